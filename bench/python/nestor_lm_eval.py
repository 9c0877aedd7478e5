"""lm-evaluation-harness: the functions that nestor.yaml names. The grader is that of the environment (NESTOR_GRADE_URL, or NESTOR_TASKS
and NESTOR_KEY)."""

from nestor_grade import from_environment


def doc_to_text(doc):
    return "\n\n".join(f"{m['role'].capitalize()}: {m['content']}" for m in doc["messages"]) + "\n\nAssistant:"


def doc_to_target(doc):
    return doc["answer_commit"]


def process_results(doc, results):
    result = from_environment().grade(doc["task_id"], results[0])
    return {"nestor_pass": float(result["passed"]), "nestor_score": float(result["score"])}

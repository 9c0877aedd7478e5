"""Inspect: `inspect eval nestor_inspect.py -T tasks=tasks.jsonl -T key=key.jsonl --model …`."""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from nestor_grade import Grader, GraderError

_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@scorer(metrics=[accuracy(), stderr(cluster="cluster")])
def nestor_scorer(grader):
    async def score(state: TaskState, target: Target) -> Score:
        finish = {"max_tokens": "length", "model_length": "length"}.get(getattr(state.output, "stop_reason", None))
        result = grader.grade(state.metadata["task_id"], state.output.completion, finish)
        if result["outcome"] == "infra_error":  # no verdict: let Inspect treat the sample as an error
            raise GraderError("the answer could not be judged")
        return Score(value=1.0 if result["passed"] else 0.0, answer=state.output.completion, explanation=result["outcome"],
                     metadata=result)

    return score


@task
def nestor(tasks="tasks.jsonl", key="key.jsonl", url=None):
    grader = Grader(tasks, key, url=url)
    samples = [Sample(id=t["task_id"], input=[_MESSAGES[m["role"]](content=m["content"]) for m in t["messages"]],
                      target=t["answer_commit"],
                      metadata={"task_id": t["task_id"], "kind": t["kind"], "level": t["level"], "cluster": t["cluster"]})
               for t in grader.tasks(tasks)]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=nestor_scorer(grader))

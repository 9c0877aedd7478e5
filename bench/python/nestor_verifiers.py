"""verifiers: load_environment makes a SingleTurnEnv of the tasks, with the score as reward and the pass as a metric."""

from nestor_grade import Grader, reward


def _finish(state):
    """verifiers says of a rollout whether its text was cut off, where it knows."""
    return "length" if isinstance(state, dict) and state.get("is_truncated") else None


def load_environment(tasks="tasks.jsonl", key="key.jsonl", url=None, partial=1.0, **kwargs):
    import verifiers as vf
    from datasets import Dataset

    grader = Grader(tasks, key, url=url)

    async def nestor_reward(completion, info, state=None, **_):
        result = grader.grade(info["task_id"], completion, _finish(state))
        if isinstance(state, dict):
            state["nestor"] = result
        value = reward(result, partial)
        return 0.0 if value is None else value

    async def nestor_passed(completion, info, state=None, **_):
        result = state.get("nestor") if isinstance(state, dict) else None
        return float((result or grader.grade(info["task_id"], completion, _finish(state)))["passed"])

    dataset = Dataset.from_list([{"prompt": task["messages"], "answer": "",
                                  "info": {"task_id": task["task_id"], "kind": task["kind"], "level": task["level"]}}
                                 for task in grader.tasks(tasks)])
    rubric = vf.Rubric(funcs=[nestor_reward, nestor_passed], weights=[1.0, 0.0])
    return vf.SingleTurnEnv(dataset=dataset, rubric=rubric, **kwargs)

"""verl: reward.custom_reward_function.path=…/nestor_verl.py, custom_reward_function.name=compute_score (or compute_scores, for the
batch reward manager).

The grader is that of the environment (NESTOR_GRADE_URL, or NESTOR_TASKS and NESTOR_KEY); NESTOR_PARTIAL is what a score below 1 is worth. The task is extra_info["task_id"], else ground_truth.
"""

import os

from nestor_grade import from_environment, reward


def _task(ground_truth, extra_info):
    return (extra_info or {}).get("task_id") or ground_truth


def _finish(extra_info, words=None):
    """The reason why the text ended, where a rollout or a reward manager hands one on: verl itself names none."""
    return (extra_info or {}).get("finish_reason") or (words or {}).get("finish_reason")


def _parts(result):
    value = reward(result, float(os.environ.get("NESTOR_PARTIAL", "1")))
    return {"score": 0.0 if value is None else value, "passed": float(result["passed"]), "outcome": result["outcome"]}


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """One answer: {"score": …} with its parts, which verl logs."""
    return _parts(from_environment().grade(_task(ground_truth, extra_info), solution_str, _finish(extra_info, kwargs)))


def compute_scores(data_sources, solution_strs, ground_truths, extra_infos, **kwargs):
    """A batch of answers, judged together."""
    samples = [(_task(truth, info), text, _finish(info)) for truth, text, info in zip(ground_truths, solution_strs, extra_infos)]
    return [_parts(result) for result in from_environment().grade_many(samples)]


def rows(tasks):
    """Rows of verl's Parquet files."""
    return [{"data_source": "nestor", "prompt": task["messages"], "ability": task["kind"],
             "reward_model": {"style": "rule", "ground_truth": task["task_id"]},
             "extra_info": {"task_id": task["task_id"], "level": task["level"], "split": task["split"]}} for task in tasks]

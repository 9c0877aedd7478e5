"""TRL: a reward function for GRPOTrainer and RLOOTrainer.

The trainer calls it with prompts, completions, completion_ids and every column of the dataset by name; the column `task_id` says which task
each completion answers. It returns one float a completion, or None where the grader could say nothing (TRL leaves those out).
"""

from nestor_grade import from_environment, reward


def make_reward(grader=None, partial=1.0):
    """A reward function of this grader; partial: what a score below 1 is worth (0: exact answers only)."""

    def nestor_reward(prompts=None, completions=None, completion_ids=None, task_id=None, **kwargs):
        results = (grader or from_environment()).grade_many(list(zip(task_id, completions)))
        return [reward(result, partial) for result in results]

    return nestor_reward


def dataset(tasks):
    """Rows for datasets.Dataset.from_list: {"prompt": messages, "task_id": …}."""
    return [{"prompt": task["messages"], "task_id": task["task_id"]} for task in tasks]

"""MountainCar and CartPole by tables: how many steps until they are solved, compared with deep learners.

    python examples/continuous.py [--task mountain_car|cart_pole] [--learner backsweep|dqn|ppo] [--runs 3]

Observations go through ``backsweep.Discretize``; the agent is the one that ``backsweep.learn`` builds. DQN and PPO are those of
Stable-Baselines3 with the settings of its RL Zoo, if it is installed.

A task counts as solved at the first evaluation of the greedy policy, every 2,000 steps, whose 100 episodes reach Gymnasium's
threshold on average: -110 for MountainCar, 475 for CartPole. Steps of evaluations are not counted.
"""

import argparse

import gymnasium as gym
import numpy as np

EVERY, EPISODES = 2_000, 100
TASKS = {
    "mountain_car": {"id": "MountainCar-v0", "solved": -110.0, "steps": 200_000, "discount": 0.99},
    "cart_pole": {"id": "CartPole-v1", "solved": 475.0, "steps": 200_000, "discount": 0.97},
}


def mean_return(env, act, threshold, seed):
    """The mean return of a policy; few episodes first, since most policies are far from solving the task."""
    returns = []
    for n in (10, EPISODES):
        while len(returns) < n:
            state, _ = env.reset(seed=seed + len(returns))
            total, over = 0.0, False
            while not over:
                state, reward, terminated, truncated, _ = env.step(act(state))
                total += float(reward)
                over = terminated or truncated
            returns.append(total)
        if np.mean(returns) < threshold - 15:
            break
    return float(np.mean(returns))


def backsweep_run(task, seed):
    """Steps until solved, by tables."""
    import backsweep

    def discretized():
        env = gym.make(task["id"])
        if task["id"] == "MountainCar-v0":
            # A step changes the speed little: in wider bins the model sees no movement.
            return backsweep.Discretize(env, bins=[150, 150])
        # Angles matter most, and only those near 0 can be held.
        angle = np.linspace(-0.1, 0.1, 13)
        speed = np.linspace(-1.2, 1.2, 13)
        return backsweep.Discretize(env, bins=[[-1.0, 1.0], [-0.5, 0.5], angle, speed])

    env, judge_env = discretized(), discretized()
    solved_at = None
    judged = 0

    def on_episode(history):
        nonlocal solved_at, judged
        if history.n_steps // EVERY > judged:
            judged = history.n_steps // EVERY
            policy = history.agent.policy()
            score = mean_return(judge_env, lambda state: policy.get(state, 0), task["solved"], 10_000 + seed)
            if score >= task["solved"]:
                solved_at = history.n_steps
        return solved_at is not None or history.n_steps >= task["steps"]

    backsweep.learn(env, episodes=10**9, discount=task["discount"], seed=seed, on_episode=on_episode, progress=False)
    return solved_at


def deep_run(name, task, seed):
    """Steps until solved, by Stable-Baselines3."""
    import torch
    from stable_baselines3 import DQN, PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    mountain = task["id"] == "MountainCar-v0"
    if name == "dqn":
        settings = (
            dict(learning_rate=4e-3, batch_size=128, buffer_size=10_000, learning_starts=1_000, gamma=0.98,
                 target_update_interval=600, train_freq=16, gradient_steps=8, exploration_fraction=0.2,
                 exploration_final_eps=0.07, policy_kwargs=dict(net_arch=[256, 256]))
            if mountain
            else dict(learning_rate=2.3e-3, batch_size=64, buffer_size=100_000, learning_starts=1_000, gamma=0.99,
                      target_update_interval=10, train_freq=256, gradient_steps=128, exploration_fraction=0.16,
                      exploration_final_eps=0.04, policy_kwargs=dict(net_arch=[256, 256]))
        )
        model = DQN("MlpPolicy", gym.make(task["id"]), seed=seed, **settings)
        total = 120_000 if mountain else 50_000  # the length that RL Zoo's schedule of exploration is for
    else:
        settings = (
            dict(n_steps=16, gae_lambda=0.98, gamma=0.99, n_epochs=4, ent_coef=0.0)
            if mountain
            else dict(n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20, ent_coef=0.0,
                      learning_rate=lambda left: 1e-3 * left, clip_range=lambda left: 0.2 * left)
        )
        n_envs = 16 if mountain else 8
        model = PPO("MlpPolicy", make_vec_env(task["id"], n_envs=n_envs, seed=seed), seed=seed, **settings)
        total = task["steps"] if mountain else 100_000
    judge_env = gym.make(task["id"])

    class Judge(BaseCallback):
        solved_at, judged = None, 0

        def _on_step(self):
            if self.num_timesteps // EVERY > self.judged:
                self.judged = self.num_timesteps // EVERY

                def act(observation):
                    return int(model.predict(observation, deterministic=True)[0])

                if mean_return(judge_env, act, task["solved"], 10_000 + seed) >= task["solved"]:
                    self.solved_at = self.num_timesteps
            return self.solved_at is None

    judge = Judge()
    model.learn(total, callback=judge)
    return judge.solved_at


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=[*TASKS, "all"], default="all")
    parser.add_argument("--learner", choices=["backsweep", "dqn", "ppo"], default="backsweep")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for name in TASKS if options.task == "all" else [options.task]:
        task = TASKS[name]
        run = backsweep_run if options.learner == "backsweep" else lambda t, s: deep_run(options.learner, t, s)
        steps = []
        for seed in range(options.runs):
            steps.append(run(task, seed))
            print(f"{task['id']:16} {options.learner:10} seed {seed}: {steps[-1] or 'not solved'}", flush=True)


if __name__ == "__main__":
    main()

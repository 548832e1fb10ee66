"""Neural rewards, through the optional package PyTorch; `accordant.preferences.learners.neural` registers the learners.

networks.py    a reward of items and a user's latent vector; an encoder from a user's pairs to that vector
latents.py     where latent vectors come from: contexts known beforehand, or an encoder that is trained along
training.py    the losses of the linear learners, minimised by stochastic gradients
rewards.py     the fitted reward model
"""

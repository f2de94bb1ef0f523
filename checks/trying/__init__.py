"""Judging the judge: is a challenge, or a built-in task, fair to what is right and hard on what is lazy?"""

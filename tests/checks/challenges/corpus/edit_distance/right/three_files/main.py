from reading import pairs

from distance import levenshtein

for pair in pairs():
    print(levenshtein(*pair))

import json

with open("settings.json") as file:
    GROUP = json.load(file)["group_size"]

error: -o name is not for this command, json and yaml are

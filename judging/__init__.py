"""What people judge with: workspaces, rubrics, scorecards, notes, matchups, scoreboards."""

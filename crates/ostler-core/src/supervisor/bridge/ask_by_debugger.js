// Asks by standing still: the supervisor sees the pause, reads `question`, and later sets `answer` and resumes.
// `seen` tells apart nobody having looked, so that the native dialog must ask, from somebody having let us go on
// without an answer, which counts as Cancel. Its name is how the supervisor knows the pause for ours.
function ostlerBridgeAsk(question) {
  let seen = false;
  let answer = null;
  debugger;
  return seen ? answer ?? { accept: false } : null;
}

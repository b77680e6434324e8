import type { RehearsalScript, ScriptStep } from '../script/script.ts'

/** What the test runner prints when tests passed, in any of its formats. */
const PASSED_PATTERN = 'pass [1-9]'

const TOUR_STEPS: readonly ScriptStep[] = [
  {
    when: { turns: 5, results: { not: { matches: PASSED_PATTERN } } },
    say: 'The tests failed or did not run; the tool output is in the log. If you declined a step, this is expected.\n\nThis was a scripted rehearsal, not a model: a real one would now look for the cause.',
  },
  {
    expect: { tools: ['list_directory', 'read_file', 'search_file_content', 'replace', 'run_shell_command'] },
    say: 'This is a scripted rehearsal, not a model: my text is fixed. Everything else is real: HTTP, tools, approvals and the session log.\n\nThis folder contains a small project with a failing test. First I list its files.',
    call: [{ name: 'list_directory', args: { path: '{cwd}' } }],
  },
  {
    say: 'The project has a function and its test. I read both files in parallel.',
    call: [
      { name: 'read_file', args: { absolute_path: '{cwd}/sum.js' } },
      { name: 'read_file', args: { absolute_path: '{cwd}/sum.test.js' } },
    ],
  },
  {
    say: '`sum` subtracts. Before I change it, I search for other callers.',
    call: [{ name: 'search_file_content', args: { pattern: 'sum\\(', path: '{cwd}' } }],
  },
  {
    say: 'Only the test calls it. I fix the line; you are asked to approve the edit.',
    call: [
      {
        name: 'replace',
        args: { file_path: '{cwd}/sum.js', old_string: '  return a - b', new_string: '  return a + b' },
      },
    ],
  },
  { say: 'Now I run the tests.', call: [{ name: 'run_shell_command', args: { command: 'npm test' } }] },
  {
    say: 'The test passes: `sum` adds now. The tour is over.\n\nAgain: this was a script, not a model. With a real model you can ask for anything.',
  },
]

/**
 * Works on the scratch project with the built-in tools, as a model would. It needs the value `cwd`. It reads the tool
 * results, so it notices if the user declined an edit or a command.
 */
export const tourScript: RehearsalScript = {
  about: 'Finds and fixes the bug of the scratch project: lists, reads, searches, edits and runs the tests.',
  steps: TOUR_STEPS.map((step) => ({ ...step, pace: 12 })),
  end: { say: 'The tour is over. To use a real model, configure one and select it with `-m`.' },
}

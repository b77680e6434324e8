import type { RehearsalScript } from '../script/script.ts'

/** What the test runner prints when tests passed, in any of its formats. */
const PASSED_PATTERN = 'pass [1-9]'

/**
 * Works on the scratch project with the built-in tools, as a model would. It needs the value `cwd`. It reads the tool
 * results, so it notices if the user declined an edit or a command.
 */
export const tourScript: RehearsalScript = {
  about: 'Finds and mends the bug of the scratch project: lists, reads, searches, edits and runs the tests.',
  steps: [
    {
      when: { turns: 5, results: { not: { matches: PASSED_PATTERN } } },
      pace: 12,
      say: 'The tests did not pass, or they did not run; whatever the tools answered is in the log. On the scripted way the edit would have mended `sum.js`.\n\nThis was a scripted rehearsal, not a model: a real one would now find out what went wrong.',
    },
    {
      expect: { tools: ['list_directory', 'read_file', 'search_file_content', 'replace', 'run_shell_command'] },
      pace: 12,
      say: 'This is a scripted rehearsal, not a model: every word of mine is in a file. All the rest is real: the HTTP, the tools, the approvals and the log.\n\nIn this folder is a small project with a failing test. First I look at what is there.',
      call: [{ name: 'list_directory', args: { path: '{cwd}' } }],
    },
    {
      pace: 12,
      say: 'A function and its test. I read both, side by side.',
      call: [
        { name: 'read_file', args: { absolute_path: '{cwd}/sum.js' } },
        { name: 'read_file', args: { absolute_path: '{cwd}/sum.test.js' } },
      ],
    },
    {
      pace: 12,
      say: '`sum` subtracts. Before I change it I look for others who use it.',
      call: [{ name: 'search_file_content', args: { pattern: 'sum\\(', path: '{cwd}' } }],
    },
    {
      pace: 12,
      say: 'Only the test does. I mend the line; you see the change before it is made.',
      call: [
        {
          name: 'replace',
          args: { file_path: '{cwd}/sum.js', old_string: '  return a - b', new_string: '  return a + b' },
        },
      ],
    },
    {
      pace: 12,
      say: 'Now the tests.',
      call: [{ name: 'run_shell_command', args: { command: 'npm test' } }],
    },
    {
      pace: 12,
      say: 'The test passes: `sum` adds now. The tour is over.\n\nAgain: this was a script, not a model. With a real model you can ask for anything.',
    },
  ],
  end: {
    say: 'The tour is over, and its script has nothing more to say. To talk to a real model, set up one and choose it with `-m`.',
  },
}

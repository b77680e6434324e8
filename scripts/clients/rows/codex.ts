import { callFirst, type Client, type ClientTools } from '../client.ts'

const SHELL = { cmd: 'cat a.txt' }

/** A model that Codex does not know gets functions; the models of its catalogue get one tool that takes a program. */
const UNKNOWN_MODEL = 'other-model'

const FUNCTIONS: ClientTools = {
  label: 'functions',
  args: ['-m', UNKNOWN_MODEL],
  read: (file) => ({ name: 'exec_command', args: { cmd: `cat ${file}` } }),
  edit: (file, before, after) => ({
    name: 'exec_command',
    args: { cmd: `apply_patch <<'EOF'\n${createPatch(file, before, after)}EOF\n` },
  }),
  shell: (command) => ({ name: 'exec_command', args: { cmd: command } }),
}

const PROGRAMS: ClientTools = {
  label: 'programs',
  read: (file) => callProgram(`text(await tools.exec_command({ cmd: "cat ${file}" }))`),
  edit: (file, before, after) =>
    callProgram(`text(await tools.apply_patch(${JSON.stringify(createPatch(file, before, after))}))`),
  shell: (command) => callProgram(`text(await tools.exec_command({ cmd: ${JSON.stringify(command)} }))`),
}

export const codex: Client = {
  id: 'codex',
  package: '@openai/codex',
  program: 'bin/codex.js',
  node: 16,
  quietEnv: {},
  quietFiles: {
    '.codex/config.toml':
      'check_for_update_on_startup = false\n[analytics]\nenabled = false\n[features]\napps = false\nplugins = false\n',
  },
  // Its sandbox does not start from a temporary home folder.
  runPrompt: (prompt) => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
  models: [
    // A model of its catalogue declares its tools inside the input, in namespaces; any other one in `tools`.
    {
      wire: 'openai-responses',
      model: 'gpt-6-sol',
      args: ['-m', 'gpt-6-sol'],
      readFile: { when: { turns: 0 }, say: 'I read the file.', call: [{ name: 'exec_command', args: SHELL }] },
    },
    {
      wire: 'openai-responses',
      model: UNKNOWN_MODEL,
      args: ['-m', UNKNOWN_MODEL],
      readFile: callFirst('exec_command', SHELL),
    },
  ],
  tools: [PROGRAMS, FUNCTIONS],
}

/** The tool takes text that is not JSON; where an API has no such tools, it is the argument `input`. */
function callProgram(source: string) {
  return { name: 'functions__exec', args: { input: source } }
}

function createPatch(file: string, before: string, after: string): string {
  return `*** Begin Patch\n*** Update File: ${file}\n@@\n-${before}\n+${after}\n*** End Patch\n`
}

import { parseArgs } from 'node:util'
import { Complaint } from '../exit.ts'

const HELP = `Usage: dragoman policy check [file] [--rules <file>] [--json]
       dragoman policy explain <call> [--approval-mode <mode>]

  check     judges cases, one JSON object a line, from a file or from standard input:
              {"id":"1","kind":"shell","command":"git status"}
              {"id":"2","kind":"path","operation":"write","path":".git/config"}
              {"id":"3","kind":"url","url":"http://localhost/"}
              {"id":"4","kind":"terminal","surface":"tool-output","input":"text"}
            and answers each with a line: the verdict, the rule that decided, and why
  explain   says in words what would happen to a call, in every mode

Options:
  --rules <file>   these rules and no others: {"allow":[…],"ask":[…],"deny":[…],"protectedWrites":[…],"secretFiles":[…]}
  --json           answers as JSON lines
  --cwd <folder>   the workspace
  --tool <name>    explain: the tool, when the call is given as its path, command or address alone

Examples:
  dragoman policy explain 'run_shell_command(rm -rf build)'
  dragoman policy explain --tool write_file .vscode/tasks.json
  echo '{"id":"1","kind":"shell","command":"ls"}' | dragoman policy check --rules rules.json --json
`

/** `dragoman policy`: tries rules out, and says what they mean. */
export async function policyCommand(args: string[]): Promise<void> {
  const { values, positionals } = parse(args)
  const [verb, ...rest] = positionals
  if (values.help || verb === undefined) {
    process.stdout.write(HELP)
    return
  }
  if (verb === 'check') return (await import('./policy-check.ts')).checkCommand(rest[0], values)
  if (verb === 'explain') return (await import('./policy-explain.ts')).explainCommand(rest.join(' '), values)
  throw new Complaint(`dragoman policy knows check and explain, not “${verb}”`)
}

/** The options of both verbs. */
export type PolicyOptions = ReturnType<typeof parse>['values']

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        rules: { type: 'string' },
        json: { type: 'boolean' },
        cwd: { type: 'string' },
        tool: { type: 'string' },
        'approval-mode': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new Complaint(error instanceof Error ? error.message : String(error))
  }
}

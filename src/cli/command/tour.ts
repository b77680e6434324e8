import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { run } from '../../agent/run.ts'
import { port } from '../../provider/send.ts'
import { resolveModel } from '../../provider/resolve.ts'
import { tourProject } from '../../rehearsal/scripts/tour-project.ts'
import { SCRIPTS } from '../../rehearsal/scripts/scripts.ts'
import { startRehearsal } from '../../rehearsal/server.ts'
import { readArgs } from '../line/args.ts'
import { assemble } from '../setup/assemble.ts'
import { NO_SETTINGS } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { TOUR } from '../manual/tour.ts'
import { textOutput } from '../output/text.ts'
import { ownName } from '../own/name.ts'
import { parseLine } from '../line/parse.ts'
import { sessionsFolder, tilde } from '../own/places.ts'

const TASK = 'The test of this project fails. Find out why, mend it, and show that it passes.'

/**
 * `dragoman tour`: a scripted model works on a scratch project. The script is a script, but everything else is real: the
 * HTTP, the wire, the scheduler, the approvals, the tools and the log. Without a terminal, or with `--yes`, it runs through.
 */
export async function tourCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman tour', TOUR.options, args)
  if (positionals.length > 0) throw new Complaint(`dragoman tour takes --yes, not “${positionals[0]}”`)
  const folder = scratchProject()
  return isatty(0) && isatty(1) && !values.yes ? withPerson(folder) : runThrough(folder)
}

/** On a terminal the tour is a conversation like any other: the person sees each step, and is asked. */
async function withPerson(folder: string): Promise<number> {
  process.stdout.write(
    `A scratch project with a failing test is in ${folder}\nWhat the model says is scripted; all else is real. Control-D leaves.\n\n`,
  )
  process.chdir(folder)
  const { interactive } = await import('../tui/app.ts')
  const code = await interactive(readArgs(['--model', 'rehearsal/tour', '--cwd', folder, TASK]))
  process.stdout.write(after(folder))
  return code
}

async function runThrough(folder: string): Promise<number> {
  const server = await startRehearsal({ scripts: SCRIPTS, values: { cwd: folder }, pace: 0 })
  const target = resolveModel('openai-chat/tour', {
    OPENAI_API_KEY: 'rehearsal',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
  })
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  const model = port({ ...target, row: { ...target.row, id: 'rehearsal' } })
  const options = readArgs(['--cwd', folder, '--approval-mode', 'yolo'])
  const ready = await assemble(options, NO_SETTINGS, model).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const output = textOutput({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stdout.write(text),
  })
  let code: number = EXIT.failure
  try {
    process.stdout.write(`A scratch project with a failing test is in ${folder}\n\n> ${TASK}\n\n`)
    for await (const event of run(ready.agent, [{ kind: 'text', text: TASK }], stop.signal)) {
      output.show(event)
      if (event.type === 'run-close')
        code = event.reason === 'done' ? EXIT.ok : event.reason === 'cancelled' ? EXIT.interrupted : EXIT.failure
    }
  } finally {
    await ready.close()
    await server.close()
  }
  if (code !== EXIT.interrupted) process.stdout.write(after(folder))
  return code
}

function scratchProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-tour-'))
  for (const [name, text] of Object.entries(tourProject())) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function after(folder: string): string {
  const command = ownName()
  return `
The log of this session is in
  ${tilde(sessionsFolder(folder))}
To read it:
  ${command} sessions show --cwd ${folder}

To work with a real model, set a key that you have, and ask:
  export GEMINI_API_KEY=…
  ${command} -p "what is in this folder?"
OPENAI_API_KEY, ANTHROPIC_API_KEY and others do as well.
To store a key instead:
  ${command} login
A server on this machine (Ollama, llama.cpp, …) needs none.
`
}

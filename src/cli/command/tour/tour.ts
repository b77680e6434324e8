import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { run } from '../../../agent/loop/run.ts'
import { createModel, resolveModel } from '../../../provider/index.ts'
import { createTourProject } from '../../../rehearsal/builtin-scripts/tour-project.ts'
import { BUILTIN_SCRIPTS } from '../../../rehearsal/builtin-scripts/all-scripts.ts'
import { startRehearsalServer } from '../../../rehearsal/server.ts'
import { parseRunArgs } from '../../args/run-args.ts'
import { assembleAgent } from '../../setup/assemble-agent.ts'
import { EMPTY_SETTINGS } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { TOUR_COMMAND } from './spec.ts'
import { createTextOutput } from '../../output/text-output.ts'
import { findCommandName } from '../../args/command-name.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { sessionsFolderPath, abbreviateHome } from '../../paths/folders.ts'

const TOUR_PROMPT = 'The test of this project fails. Find out why, mend it, and show that it passes.'

/**
 * `dragoman tour`: a scripted model works on a scratch project. The script is a script, but everything else is real: the
 * HTTP, the wire, the scheduler, the approvals, the tools and the log. Without a terminal, or with `--yes`, it runs through.
 */
export async function runTourCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman tour', TOUR_COMMAND.options, args)
  if (positionals.length > 0) throw new UserError(`dragoman tour takes --yes, not “${positionals[0]}”`)
  const folder = createScratchProject()
  return isatty(0) && isatty(1) && !values.yes ? runInteractiveTour(folder) : runHeadlessTour(folder)
}

/** On a terminal the tour is a conversation like any other: the person sees each step, and is asked. */
async function runInteractiveTour(folder: string): Promise<number> {
  process.stdout.write(
    `A scratch project with a failing test is in ${folder}\nWhat the model says is scripted; all else is real. Control-D leaves.\n\n`,
  )
  process.chdir(folder)
  const { runInteractive } = await import('../../tui/app.ts')
  const code = await runInteractive(parseRunArgs(['--model', 'rehearsal/tour', '--cwd', folder, TOUR_PROMPT]))
  process.stdout.write(nextStepsText(folder))
  return code
}

async function runHeadlessTour(folder: string): Promise<number> {
  const server = await startRehearsalServer({ scripts: BUILTIN_SCRIPTS, templateValues: { cwd: folder }, paceMs: 0 })
  const target = resolveModel('openai-chat/tour', {
    OPENAI_API_KEY: 'rehearsal',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
  })
  if ('problem' in target) throw new UserError(target.problem, target.code)
  const model = createModel({ ...target, provider: { ...target.provider, id: 'rehearsal' } })
  const options = parseRunArgs(['--cwd', folder, '--approval-mode', 'yolo'])
  const assembled = await assembleAgent(options, EMPTY_SETTINGS, model).catch(async (error: unknown) => {
    await server.close()
    throw error
  })
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const output = createTextOutput({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stdout.write(text),
  })
  let code: number = EXIT_CODE.failure
  try {
    process.stdout.write(`A scratch project with a failing test is in ${folder}\n\n> ${TOUR_PROMPT}\n\n`)
    for await (const event of run(assembled.agent, [{ kind: 'text', text: TOUR_PROMPT }], stop.signal)) {
      output.onEvent(event)
      if (event.type === 'run-close')
        code =
          event.reason === 'done'
            ? EXIT_CODE.ok
            : event.reason === 'cancelled'
              ? EXIT_CODE.interrupted
              : EXIT_CODE.failure
    }
  } finally {
    await assembled.close()
    await server.close()
  }
  if (code !== EXIT_CODE.interrupted) process.stdout.write(nextStepsText(folder))
  return code
}

function createScratchProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-tour-'))
  for (const [name, text] of Object.entries(createTourProject())) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function nextStepsText(folder: string): string {
  const command = findCommandName()
  return `
The log of this session is in
  ${abbreviateHome(sessionsFolderPath(folder))}
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

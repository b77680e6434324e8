import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { run } from '../../../agent/loop/run.ts'
import { createModel } from '../../../provider/index.ts'
import { createTourProject } from '../../../rehearsal/builtin-scripts/tour-sample-project.ts'
import { parseRunArgs } from '../../args/run-args.ts'
import { assembleAgent } from '../../setup/assemble-agent.ts'
import { EMPTY_SETTINGS } from '../../config/read-settings.ts'
import { startRehearsalModel } from '../../setup/rehearsal-model.ts'
import { EXIT_CODE } from '../../user-error.ts'
import { TOUR_COMMAND } from './spec.ts'
import { createTextOutput } from '../../output/text-output.ts'
import { getInvocationName } from '../../args/invocation-name.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { toExitCode } from '../../headless.ts'
import { getSessionsFolder, abbreviateHome } from '../../paths/folders.ts'

const TOUR_PROMPT = 'The test of this project fails. Find out why, fix it, and show that it passes.'

/** `dragoman tour`. Without a terminal, or with `--yes`, it runs without questions. */
export async function runTourCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman tour', TOUR_COMMAND.options, args)
  rejectExtraArgs('dragoman tour', positionals)
  const folder = createScratchProject()
  return isatty(0) && isatty(1) && !values.yes ? runInteractiveTour(folder) : runHeadlessTour(folder)
}

async function runInteractiveTour(folder: string): Promise<number> {
  process.stdout.write(
    `A scratch project with a failing test is in ${folder}\nThe model is scripted; everything else is real. Press Ctrl-D to leave.\n\n`,
  )
  process.chdir(folder)
  const { runInteractive } = await import('../../tui/app.ts')
  const code = await runInteractive(parseRunArgs(['--model', 'rehearsal/tour', '--cwd', folder, TOUR_PROMPT]))
  process.stdout.write(nextStepsText(folder))
  return code
}

async function runHeadlessTour(folder: string): Promise<number> {
  const { endpoint, close } = await startRehearsalModel('rehearsal/tour', 'tour', { paceMs: 0, cwd: folder })
  const args = parseRunArgs(['--cwd', folder, '--approval-mode', 'yolo'])
  const assembled = await assembleAgent(args, EMPTY_SETTINGS, createModel(endpoint)).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const write = (text: string): void => void process.stdout.write(text)
  const output = createTextOutput({ out: write, err: write })
  let code: number = EXIT_CODE.failure
  try {
    process.stdout.write(`A scratch project with a failing test is in ${folder}\n\n> ${TOUR_PROMPT}\n\n`)
    for await (const event of run(assembled.agent, [{ kind: 'text', text: TOUR_PROMPT }], stop.signal)) {
      output.onEvent(event)
      if (event.type === 'run-close') code = toExitCode(event)
    }
  } finally {
    await assembled.close()
    await close()
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
  const command = getInvocationName()
  return `
The log of this session is in
  ${abbreviateHome(getSessionsFolder(folder))}
To read it:
  ${command} sessions show --cwd ${folder}

To use a real model, set a key and ask:
  export GEMINI_API_KEY=…
  ${command} -p "what is in this folder?"
OPENAI_API_KEY, ANTHROPIC_API_KEY and others also work.
To store a key instead:
  ${command} login
A local model server (Ollama, llama.cpp, …) needs no key.
`
}

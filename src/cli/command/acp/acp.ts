import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { createAcpServer } from '../../../acp/serve.ts'
import { createTurnKey } from '../../../model/ids.ts'
import { RUN_OPTIONS } from '../../args/options.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { type RunArgs, toRunArgs } from '../../args/run-args.ts'
import { realPathOrSelf } from '../../paths/folders.ts'
import { onStopRequest } from '../../stop-signals.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { createEditorSetup } from './editor-setup.ts'
import { ACP_COMMAND } from './spec.ts'

/** `dragoman acp`: an agent for editors on standard input and output, until the editor closes them. */
export async function runAcpCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman acp', { ...RUN_OPTIONS, ...ACP_COMMAND.options }, argv)
  rejectExtraArgs('dragoman acp', positionals, 0)
  const { login, ...runValues } = values
  if (login !== undefined) {
    await (await import('./terminal-login.ts')).loginOnTerminal(login === 'ask' ? undefined : login)
    return EXIT_CODE.ok
  }
  const args = await readSessionArgs(toRunArgs(runValues, []))
  const write = process.stdout.write.bind(process.stdout)
  const send = (line: string): void => void write(line)
  // Only the protocol is on standard output: what anything else prints goes to standard error.
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const isVerbose = args.trace !== undefined || process.env['DRAGOMAN_ACP_LOG'] !== undefined
  const server = createAcpServer(createEditorSetup(args), {
    send,
    log: (message) => void (isVerbose && process.stderr.write(`dragoman: ${message}\n`)),
    createId: () => createTurnKey(randomBytes(20)),
  })
  const stop = new Promise<void>((done) => {
    const stopListening = onStopRequest(() => {
      stopListening()
      done()
    })
    process.stdin.on('data', (bytes: Buffer) => server.receive(bytes))
    process.stdin.once('end', done)
    process.stdin.once('error', done)
  })
  await stop
  process.stdin.pause()
  await server.close()
  return EXIT_CODE.ok
}

async function readSessionArgs(args: RunArgs): Promise<RunArgs> {
  const { prompt, resume, fork, cwd, jsonSchema } = args
  if ((prompt ?? resume ?? fork ?? cwd ?? jsonSchema) !== undefined)
    throw new UserError('dragoman acp takes no prompt, session, folder or schema: the editor chooses them')
  if (args.allowedTools.length === 0 && args.disallowedTools === undefined) return args
  const { translateToolRules } = await import('../../setup/allowed-tools.ts')
  return translateToolRules(args, realPathOrSelf(resolve('.')))
}

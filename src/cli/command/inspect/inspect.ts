import { type Inspector, startInspector } from '../../../gateway/inspector/start-inspector.ts'
import { getErrorMessage } from '../../../model/error-message.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { parsePort } from '../../args/parse-port.ts'
import { printHelp } from '../../args/print-help.ts'
import { readSettings } from '../../config/read-settings.ts'
import { getSessionsFolder } from '../../paths/folders.ts'
import { createSecretRedactor } from '../../recording/traffic-recorder.ts'
import { findSessionId, resolveWorkFolder, withStoreErrors } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { createSessionSource } from './session-source.ts'
import { INSPECT_COMMAND } from './spec.ts'

/** Serves the inspector for the sessions of a folder until it is stopped. */
export async function runInspectCommand(argv: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman inspect', INSPECT_COMMAND.options, argv)
  if (values.help) return printHelp('inspect')
  rejectExtraArgs('dragoman inspect', positionals, 1)
  const port = parsePort(values.port)
  const folder = resolveWorkFolder(values)
  const store = jsonlStore(getSessionsFolder(folder))
  const [name] = positionals
  const session = name === undefined ? undefined : await withStoreErrors(() => findSessionId(name, store))
  const { config } = readSettings(folder)
  const { cost } = await createLazyCatalog(config)()
  const { redact } = createSecretRedactor()
  const source = await withStoreErrors(() => createSessionSource(store, { folder, session, price: cost, redact }))
  const inspector = await start(source, port)
  await print(inspector, values)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  source.close()
  await inspector.close()
  return EXIT_CODE.ok
}

async function start(source: Parameters<typeof startInspector>[0], port: number): Promise<Inspector> {
  try {
    return await startInspector(source, { port })
  } catch (error) {
    throw new UserError(`the inspector cannot start: ${getErrorMessage(error)}`, EXIT_CODE.failure)
  }
}

async function print(
  { url, token, inspector }: Inspector,
  { json, 'no-open': isClosed }: { readonly json?: boolean | undefined; readonly 'no-open'?: boolean | undefined },
): Promise<void> {
  process.stdout.write(json ? `${JSON.stringify({ url, token, inspector })}\n` : `${inspector}\n`)
  if (!json) process.stderr.write('Press Ctrl-C to stop.\n')
  if (json || isClosed || !process.stdout.isTTY) return
  const { openBrowser } = await import('../../sign-in/browser.ts')
  openBrowser(inspector)
}

import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { getSnapshotSource } from '../../model/history-snapshot.ts'
import type { ToolSpec } from '../../model/request.ts'
import { type Redactor, createRedactor, findEnvironmentSecrets } from '../../model/security/redactor.ts'
import {
  listSecrets,
  type Model,
  getSharedHttpClient,
  type Endpoint,
  type HttpClient,
  wrapModel,
} from '../../provider/index.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import { recordExchanges, traceExchanges } from '../../provider/recording.ts'
import type { Session } from '../../session/session.ts'
import { UserError } from '../user-error.ts'
import { openStoredKeys } from '../sign-in/credential-sources.ts'
import type { RecordingLine } from './read-recording.ts'
import { version } from '../version.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

export interface TrafficRecorder {
  readonly httpClient: HttpClient
  readonly onEndpoint: (target: Endpoint) => void
  /** `models` are the models behind this one, in the order of fallback. */
  readonly withRequestRecording: (model: Model, models: readonly ModelOrigin[]) => Model
  readonly followSession: (session: Session) => void
  readonly close: () => void
}

/** A folder for everything, or a file for the timings. */
interface TrafficRecorderOptions {
  readonly record?: string | undefined
  readonly trace?: string | undefined
}

type Warn = (message: string) => void

export function createTrafficRecorder(args: TrafficRecorderOptions, warn: Warn): TrafficRecorder {
  const secrets = createSecretRedactor()
  let httpClient: HttpClient = getSharedHttpClient()
  if (args.trace !== undefined) {
    const write = createAppender(resolve(args.trace), warn)
    httpClient = traceExchanges(httpClient, secrets, (phase) =>
      write(`${JSON.stringify({ at: new Date().toISOString(), ...phase })}\n`),
    )
  }
  if (args.record === undefined)
    return {
      httpClient,
      onEndpoint: () => {},
      withRequestRecording: (model) => model,
      followSession: () => {},
      close: () => {},
    }
  return createSessionRecorder(httpClient, resolve(args.record), secrets, warn)
}

/** A redactor for all known secrets of the user: those in variables, and those that are stored. */
export function createSecretRedactor(): Redactor {
  const keys = openStoredKeys()
  const stored = keys.listProviders().flatMap((row) => {
    const grant = keys.get(row)
    return grant ? listSecrets(grant) : []
  })
  return createRedactor([...findEnvironmentSecrets(process.env), ...stored])
}

function createSessionRecorder(httpClient: HttpClient, folder: string, secrets: Redactor, warn: Warn): TrafficRecorder {
  createRecordingFolder(folder)
  const append = createAppender(join(folder, 'session.jsonl'), warn)
  const writeLine = (content: RecordingLine): void => {
    const text = secrets.redact(JSON.stringify(content))
    // A line that still contains a secret is not written.
    if (secrets.findCertainSpans(text).length === 0) append(`${text}\n`)
    else warn('A line of the session was not recorded because it contains a secret.')
  }
  writeLine({ kind: 'start', dragoman: version })
  const models = new Set<string>()
  let session: Session | undefined
  let tools: readonly ToolSpec[] | undefined
  let written = 0
  const flush = (): void => {
    for (const entry of session?.entries.slice(written) ?? []) writeLine({ kind: 'entry', entry })
    written = session?.entries.length ?? 0
  }
  return {
    httpClient: recordExchanges(httpClient, secrets, (exchange) => writeExchangeFile(folder, exchange, warn), warn),
    onEndpoint({ provider, model, baseUrl, credential, project, location }) {
      if (models.has(`${provider.id}/${model}`)) return
      models.add(`${provider.id}/${model}`)
      const more = defined({ style: credential?.style, project, location })
      writeLine({ kind: 'model', row: provider, model, baseUrl, ...more })
    },
    withRequestRecording(inner, origins) {
      writeLine({ kind: 'chosen', models: origins.map(({ provider, model }) => `${provider}/${model}`) })
      return wrapModel(inner, (request, requestOptions) => {
        flush()
        const { prompt, params, toolChoice, output, providerOptions, turns } = request
        if (request.tools !== tools) writeLine({ kind: 'tools', tools: request.tools })
        tools = request.tools
        const hasOwnTurns = getSnapshotSource(turns) !== session?.turns
        writeLine({
          kind: 'ask',
          key: requestOptions.turnKey,
          ...defined({ session: request.session, prompt, params, toolChoice, output, providerOptions }),
          // A request with other turns than the session's, such as for a summary, is recorded with them.
          ...(hasOwnTurns && { turns }),
        })
        return inner.stream(request, requestOptions)
      })
    },
    followSession(nextSession) {
      if (nextSession === session) return
      flush()
      session = nextSession
      written = 0
      writeLine({ kind: 'session', id: nextSession.id, folder: nextSession.folder })
    },
    close: flush,
  }
}

function createRecordingFolder(folder: string): void {
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new UserError(`${folder} is not empty; use a new folder for the recording`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`cannot record in ${folder}: ${getErrorMessage(error)}`)
  }
}

/** Each exchange is a file, written and then renamed. */
function writeExchangeFile(folder: string, exchange: { readonly number: number }, warn: Warn): void {
  const path = join(folder, `${String(exchange.number).padStart(4, '0')}.json`)
  try {
    writeFileSync(`${path}.part`, `${JSON.stringify(exchange, undefined, 1)}\n`, { mode: 0o600 })
    renameSync(`${path}.part`, path)
  } catch (error) {
    warn(`Exchange ${exchange.number} was not recorded: ${getErrorMessage(error)}`)
  }
}

/** Appends to a private file. A failure is reported once and does not stop the run. */
function createAppender(path: string, warn: Warn): (text: string) => void {
  let hasFailed = false
  return (text) => {
    if (hasFailed) return
    try {
      appendFileSync(path, text, { mode: 0o600 })
    } catch (error) {
      hasFailed = true
      warn(`${path} cannot be written: ${getErrorMessage(error)}`)
    }
  }
}

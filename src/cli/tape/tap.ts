import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ToolSpec } from '../../model/request.ts'
import { type Redactor, redactor, secretsIn } from '../../model/secret.ts'
import { secretsOf } from '../../provider/auth/grant.ts'
import type { Origin } from '../../model/turn.ts'
import type { ModelPort } from '../../provider/port.ts'
import { sharedPost } from '../../provider/send.ts'
import type { Target } from '../../provider/target.ts'
import type { Post } from '../../provider/transport.ts'
import { record } from '../../provider/wrap/record.ts'
import { trace } from '../../provider/wrap/trace.ts'
import { wrapped } from '../../provider/wrap/wrapped.ts'
import type { Session } from '../../session/session.ts'
import { Complaint } from '../exit.ts'
import { keysFile } from '../sign-in/keys-file.ts'
import type { Line } from './recording.ts'
import { version } from '../version.ts'

/** Watches what goes over the wire, to record or to trace it. */
export interface Tap {
  /** The client that is watched. */
  readonly post: Post
  /** Hears which model is asked. */
  readonly aimed: (target: Target) => void
  /** A port whose questions are noted, and the models behind it, in the order in which they are asked. */
  readonly noted: (port: ModelPort, models: readonly Origin[]) => ModelPort
  /** Follows a session from here on. */
  readonly follow: (session: Session) => void
  readonly close: () => void
}

/** What a person asked to be written down: everything, in a folder; or the times, in a file. */
export interface TapArgs {
  readonly record?: string | undefined
  readonly trace?: string | undefined
}

/** Starts to watch; `told` hears what the person should know. */
export function startTap(args: TapArgs, told: (sentence: string) => void): Tap {
  const secrets = knownSecrets()
  let post: Post = sharedPost()
  if (args.trace !== undefined) {
    const write = writer(resolve(args.trace), told)
    post = trace(post, secrets, (phase) => write(`${JSON.stringify({ at: new Date().toISOString(), ...phase })}\n`))
  }
  if (args.record === undefined)
    return { post, aimed: () => {}, noted: (port) => port, follow: () => {}, close: () => {} }
  return recordingTap(post, resolve(args.record), secrets, told)
}

/** A redactor that knows every secret of this person that we know: of the variables, and of those that are stored. */
export function knownSecrets(): Redactor {
  const keys = keysFile()
  const stored = keys.rows().flatMap((row) => {
    const grant = keys.get(row)
    return grant ? secretsOf(grant) : []
  })
  return redactor([...secretsIn(process.env), ...stored])
}

function recordingTap(post: Post, folder: string, secrets: Redactor, told: (sentence: string) => void): Tap {
  begin(folder)
  const append = writer(join(folder, 'session.jsonl'), told)
  const line = (content: Line): void => {
    const text = secrets.clean(JSON.stringify(content))
    // Nothing is known to get through the first time; what does is left out.
    if (secrets.sure(text).length === 0) append(`${text}\n`)
    else told('A line of the session is not recorded: it holds a secret.')
  }
  line({ kind: 'start', dragoman: version })
  const models = new Set<string>()
  let session: Session | undefined
  let tools: readonly ToolSpec[] | undefined
  let written = 0
  const flush = (): void => {
    for (const entry of session?.entries.slice(written) ?? []) line({ kind: 'entry', entry })
    written = session?.entries.length ?? 0
  }
  return {
    post: record(post, secrets, (exchange) => keep(folder, exchange, told), told),
    aimed({ row, model, baseUrl, key, project, location }) {
      if (models.has(`${row.id}/${model}`)) return
      models.add(`${row.id}/${model}`)
      const more = { ...(project !== undefined && { project }), ...(location !== undefined && { location }) }
      line({ kind: 'model', row, model, baseUrl, ...(key && { style: key.style }), ...more })
    },
    noted(inner, chosen) {
      line({ kind: 'chosen', models: chosen.map(({ provider, model }) => `${provider}/${model}`) })
      return wrapped(inner, (request, sending) => {
        flush()
        const { prompt, params, toolChoice, turns } = request
        if (request.tools !== tools) line({ kind: 'tools', tools: request.tools })
        tools = request.tools
        const own = turns !== session?.turns
        line({
          kind: 'ask',
          key: sending.key,
          ...(request.session !== undefined && { session: request.session }),
          ...(prompt !== undefined && { prompt }),
          ...(params && { params }),
          ...(toolChoice !== undefined && { toolChoice }),
          // A question that is not the session's own, like that for a summary, is kept with all its turns.
          ...(own && { turns }),
        })
        return inner.ask(request, sending)
      })
    },
    follow(one) {
      if (one === session) return
      flush()
      session = one
      written = 0
      line({ kind: 'session', id: one.id, folder: one.folder })
    },
    close: flush,
  }
}

/** A recording begins in a folder of its own. */
function begin(folder: string): void {
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new Complaint(`${folder} is not empty; name a new folder for the recording`)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (error instanceof Complaint) throw error
    throw new Complaint(
      `nothing can be recorded in ${folder}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** Each exchange is a file, written whole and then put in its place. */
function keep(folder: string, exchange: { readonly number: number }, told: (sentence: string) => void): void {
  const path = join(folder, `${String(exchange.number).padStart(4, '0')}.json`)
  try {
    writeFileSync(`${path}.part`, `${JSON.stringify(exchange, undefined, 1)}\n`, { mode: 0o600 })
    renameSync(`${path}.part`, path)
  } catch (error) {
    told(`Exchange ${exchange.number} is not recorded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Appends to a file that only this person can read. What cannot be written is told once; the run goes on. */
function writer(path: string, told: (sentence: string) => void): (text: string) => void {
  let broken = false
  return (text) => {
    if (broken) return
    try {
      appendFileSync(path, text, { mode: 0o600 })
    } catch (error) {
      broken = true
      told(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}

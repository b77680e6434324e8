import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { BackgroundCommand, CommandRequest, CommandResult } from '../host.ts'
import type { StartedCommand } from './start-command.ts'
import type { KeptCommand, KeptCommands } from './kept-commands.ts'
import { isCommandAlive, listGroupProcesses, type ProcessGroup, stopGroup } from './process-group.ts'

/** The commands of a session that run in the background: those that were started so, and what other commands left running. */
export interface BackgroundCommands {
  /** Starts a command; returns its result if it ends at once without having started. */
  start(
    command: CommandRequest,
    run: (command: CommandRequest, onStarted: (started: StartedBackground) => void) => Promise<CommandResult>,
  ): Promise<BackgroundCommand | CommandResult>
  /** Processes that a command left running when its shell ended; they print to a file. Returns their id. */
  addRest(command: CommandRequest, group: ProcessGroup, outputFile: string): string
  list(): readonly BackgroundCommand[]
  /** Adds those that an earlier session kept and that still run. */
  restore(): readonly BackgroundCommand[]
}

/** A command that has started. */
export interface StartedBackground extends Pick<StartedCommand, 'group' | 'send' | 'holdInput'> {
  readonly outputFile: string
}

/** `keepsAll`: the user wants all of them to go on after the session. */
export function createBackgroundCommands(kept: KeptCommands, keepsAll = false): BackgroundCommands {
  const all: BackgroundCommand[] = []
  const createId = (): string => {
    for (let number = all.length + 1; ; number++) if (!all.some(({ id }) => id === `c${number}`)) return `c${number}`
  }

  return {
    list: () => all,
    async start(command, run) {
      const stop = new AbortController()
      const unread = createUnreadText()
      let end: CommandResult | undefined
      let onStarted: (started: StartedBackground) => void = () => undefined
      const started = new Promise<StartedBackground>((resolve) => (onStarted = resolve))
      const { signal: _signal, timeout: _timeout, idleTimeout: _idle, ...request } = command
      const ended = run(
        { ...request, hasInput: true, signal: stop.signal, onOutput: (text) => unread.add(text) },
        onStarted,
      ).then((result) => (end = result))
      const first = await Promise.race([started, ended])
      if (!('holdInput' in first)) return first
      const { group, outputFile } = first
      const one: BackgroundCommand = {
        id: createId(),
        command: command.command,
        folder: command.folder,
        startedAt: Date.now(),
        get end() {
          return end
        },
        readNew: () => unread.take(),
        readRecent: () => unread.recent,
        send: (text) => (end ? Promise.reject(new Error('the command has ended')) : first.send(text)),
        async stop() {
          kept.remove(group)
          stop.abort()
          await ended
        },
        waitForEnd: () => ended.then(() => undefined),
        get isKept() {
          return kept.has(group)
        },
        keep() {
          if (end) return 'it has ended'
          const problem = kept.add({ ...one, group, outputFile })
          if (problem === undefined) first.holdInput()
          return problem
        },
      }
      all.push(one)
      if (keepsAll) one.keep()
      return one
    },
    addRest(command, group, outputFile) {
      const isRunning = (): boolean => listGroupProcesses(group).length > 0
      return addGroup({ ...command, id: createId(), startedAt: Date.now(), group, outputFile }, isRunning).id
    },
    restore: () =>
      kept.read().map((record) => {
        // Another command may have got its id since.
        const id = all.some((one) => one.id === record.id) ? createId() : record.id
        return addGroup({ ...record, id }, () => isCommandAlive(record.group))
      }),
  }

  function addGroup({ id, command, folder, startedAt, group, outputFile }: KeptCommand, isRunning: () => boolean) {
    const file = createFileReader(outputFile)
    const one: BackgroundCommand = {
      id,
      command,
      folder,
      startedAt,
      get end() {
        return isRunning() ? undefined : { exitCode: null, signal: null }
      },
      readNew: () => file.readNew(),
      readRecent: () => createFileReader(outputFile).readNew().slice(-MAX_RECENT_CHARS),
      send: () => Promise.reject(new Error('its input is closed')),
      async stop() {
        kept.remove(group)
        if (isRunning()) await stopGroup(group, STOP_GRACE_MS)
      },
      async waitForEnd() {
        while (isRunning()) await new Promise((resolve) => void setTimeout(resolve, POLL_MS).unref())
      },
      get isKept() {
        return kept.has(group)
      },
      keep: () => (isRunning() ? kept.add({ id, command, folder, startedAt, group, outputFile }) : 'it has ended'),
    }
    all.push(one)
    return one
  }
}

const STOP_GRACE_MS = 2000
const POLL_MS = 100
/** Of more, only the end is kept. */
const MAX_UNREAD_CHARS = 30_000
const MAX_RECENT_CHARS = 8000

function createUnreadText() {
  let text = ''
  let omitted = 0
  let recent = ''
  return {
    get recent() {
      return recent
    },
    add(more: string): void {
      recent = (recent + more).slice(-MAX_RECENT_CHARS)
      text += more
      const excess = text.length - MAX_UNREAD_CHARS
      if (excess <= 0) return
      omitted += excess
      text = text.slice(excess)
    },
    take(): string {
      const taken = omitted === 0 ? text : `[... ${omitted} characters omitted ...]\n${text}`
      text = ''
      omitted = 0
      return taken
    },
  }
}

function createFileReader(path: string) {
  const decoder = new StringDecoder('utf8')
  let offset = 0
  return {
    readNew(): string {
      const text = tryOrUndefined(() => {
        const descriptor = openSync(path, 'r')
        try {
          const { size } = fstatSync(descriptor)
          const from = Math.max(offset, size - MAX_UNREAD_CHARS)
          const buffer = Buffer.allocUnsafe(Math.max(size - from, 0))
          const count = readSync(descriptor, buffer, 0, buffer.length, from)
          offset = from + count
          return decoder.write(buffer.subarray(0, count))
        } finally {
          closeSync(descriptor)
        }
      })
      return text ?? ''
    },
  }
}

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WireId } from '../../../src/model/turn.ts'
import { findSignatureError } from '../../../src/rehearsal/request-checks/check-signatures.ts'
import { type RehearsalServer, startRehearsalServer } from '../../../src/rehearsal/server.ts'
import { createClientHome } from '../client-home.ts'
import type { Client, ClientTools } from '../client.ts'
import type { InstalledClient } from '../install-client.ts'
import { type ProgramEnd, runProgram } from '../run-program.ts'
import { checkTaskFiles, createTaskScript, LAST_WORDS, type TaskFiles, writeTaskFiles } from './task.ts'
import { REQUEST_TIMEOUT_SECONDS, type TaskFault } from './task-faults.ts'

export interface TaskOptions {
  readonly client: Client
  readonly tools: ClientTools
  readonly installed: InstalledClient
  /** The wire of the model. */
  readonly wire: WireId
  readonly fault?: TaskFault
  /** The root of the package, for its command. */
  readonly root: string
}

export interface TaskRun extends ProgramEnd, TaskFiles {
  readonly requests: RehearsalServer['requests']
  /** What the vendor would have rejected, and results that did not come back. */
  readonly failures: readonly string[]
  /** Did all signatures of the model come back to it? */
  readonly hasSignatures: boolean
  /** Did the user see the end of the task? */
  readonly isFinished: boolean
  readonly refusedHosts: readonly string[]
  readonly seconds: number
}

/** Runs a client through the gateway, on a scripted model of this wire, with the commands that a user would type. */
export async function runTask(options: TaskOptions): Promise<TaskRun> {
  const { client, tools, installed, wire, fault, root } = options
  const place = await createClientHome(client)
  const script = createTaskScript(tools, fault)
  const model = await startRehearsalServer({ scripts: { task: script }, templateValues: { cwd: place.workspace } })
  const started = Date.now()
  try {
    writeTaskFiles(place.workspace)
    place.writeFile('.config/dragoman/config.json', JSON.stringify(createSettings(wire, model.url)))
    const bin = writeProgram(place.home, client.id, installed)
    const env = { ...place.env, ...MODEL_ENV, PATH: `${bin}:${place.env['PATH'] ?? ''}` }
    const args = [
      'gateway',
      'run',
      client.id,
      '-m',
      'lab/task',
      '--',
      ...(tools.args ?? []),
      ...client.runPrompt(PROMPT),
    ]
    const command = [join(root, 'bin', 'dragoman'), ...args]
    const end = await runProgram(process.execPath, command, { cwd: place.workspace, env })
    return {
      ...end,
      ...checkTaskFiles(place.workspace),
      requests: model.requests,
      failures: model.failures.map(({ message }) => message),
      hasSignatures: model.requests.every(({ body }) => findSignatureError(wire, body) === undefined),
      isFinished: end.output.includes(LAST_WORDS),
      refusedHosts: [...place.refusedHosts],
      seconds: (Date.now() - started) / 1000,
    }
  } finally {
    await model.close()
    place.remove()
  }
}

const PROMPT = 'Look at the three files, correct the bird, and log it.'

/** With a project, Code Assist needs no onboarding. */
const MODEL_ENV = { DRAGOMAN_LOCAL_SERVERS: 'off', LAB_KEY: 'key-of-the-lab', GOOGLE_CLOUD_PROJECT: 'lab' }

function createSettings(wire: WireId, url: string) {
  const path = wire === 'openai-chat' || wire === 'openai-responses' ? '/v1' : ''
  const lab = { url: url + path, wire, keys: ['LAB_KEY'] }
  return { providers: { lab }, requestTimeout: REQUEST_TIMEOUT_SECONDS }
}

/** A folder for PATH with the command of the client. */
function writeProgram(home: string, id: string, { command }: InstalledClient): string {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  writeFileSync(join(bin, id), `#!/bin/sh\nexec ${words} "$@"\n`)
  chmodSync(join(bin, id), 0o755)
  return bin
}

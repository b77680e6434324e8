import { resolve } from 'node:path'
import { projectConfig, readSettings, userConfig } from '../config/read.ts'
import { CONFIG_SCHEMA } from '../config/schema.ts'
import { trustOf } from '../config/trust.ts'
import { Complaint } from '../exit.ts'

/** `dragoman config`: what is settled, and where. */
export function configCommand(args: readonly string[]): void {
  const [what = 'show', ...more] = args
  const show = Object.hasOwn(SHOWS, what) ? SHOWS[what] : undefined
  if (!show || more.length > 0)
    throw new Complaint(`dragoman config takes show, path or schema, not “${[what, ...more].join(' ')}”`)
  process.stdout.write(`${show(resolve('.'))}\n`)
}

const SHOWS: Readonly<Record<string, (folder: string) => string>> = {
  show: (folder) => {
    const { config, policies, files, notices } = readSettings(folder)
    return JSON.stringify({ files, ...(notices.length > 0 && { notices }), config, policies }, undefined, 2)
  },
  path: (folder) => `${userConfig()}\n${projectConfig(folder)} (this folder: ${trustOf(folder)})`,
  schema: () => JSON.stringify(CONFIG_SCHEMA, undefined, 2),
}

import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ClientSetup, FolderOverlay } from '../../../gateway/clients/client.ts'
import { stripJsonComments } from '../../../tool/mcp/client/import-servers.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../model/json.ts'

/** Writes the files of a setup into its private folder. They contain the token. */
export function writeSetupFiles(
  { files = {}, overlay }: Pick<ClientSetup, 'files' | 'overlay'>,
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  if (overlay) writeOverlay(overlay, overlay.getSource(env['HOME'] ?? homedir(), env))
}

function writeOverlay({ target, changes }: FolderOverlay, source: string): void {
  mkdirSync(target, { recursive: true, mode: 0o700 })
  for (const name of listNames(source)) if (!Object.hasOwn(changes, name)) link(join(source, name), join(target, name))
  for (const [name, change] of Object.entries(changes)) {
    const merged = merge(readJsonFile(join(source, name)), change)
    writeFileSync(join(target, name), `${JSON.stringify(merged, null, 2)}\n`, { mode: 0o600 })
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The client has never run.
    return []
  }
}

/** Some systems allow links only to some users; the client then starts without this file. */
function link(from: string, to: string): void {
  try {
    symlinkSync(from, to, lstatSync(from).isDirectory() ? 'junction' : 'file')
  } catch {
    // It is there from an earlier setup, or cannot be made.
  }
}

function readJsonFile(path: string): JsonObject {
  try {
    const parsed = tryParseJson(stripJsonComments(readFileSync(path, 'utf8')))
    return isObject(parsed) ? (parsed as JsonObject) : {}
  } catch {
    return {}
  }
}

function merge(base: JsonObject, change: JsonObject): JsonObject {
  const merged = { ...base }
  for (const [key, value] of Object.entries(change)) {
    const old = base[key]
    merged[key] = isObject(value) && isObject(old) ? merge(old, value) : value
  }
  return merged
}

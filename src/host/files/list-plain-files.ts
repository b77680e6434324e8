import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The files below a folder, by their relative paths; undefined if there are more than `max`. */
export function listPlainFiles(folder: string, max: number): string[] | undefined {
  const found: string[] = []
  const open = ['']
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const entry of readdirSync(join(folder, current), { withFileTypes: true })) {
      const path = current === '' ? entry.name : `${current}/${entry.name}`
      if (entry.isDirectory()) open.push(path)
      else if (entry.isFile()) found.push(path)
      if (found.length + open.length > max) return undefined
    }
  }
  return found
}

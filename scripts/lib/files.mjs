// Finding and fingerprinting files. Node built-ins only: this runs before anything is installed.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of package.json. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** A path inside the repository. */
export const inRoot = (...parts) => join(root, ...parts)

/** All files under a folder, sorted, relative to the repository; none when the folder is absent. */
export function filesUnder(folder) {
  if (!existsSync(inRoot(folder))) return []
  const found = []
  for (const entry of readdirSync(inRoot(folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) found.push(...filesUnder(path))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}

/** One hash over the names and contents of files and folders. What is absent counts as absent. */
export function fingerprint(paths) {
  const hash = createHash('sha256')
  for (const path of paths) {
    const isFolder = statSync(inRoot(path), { throwIfNoEntry: false })?.isDirectory() ?? false
    for (const file of isFolder ? filesUnder(path) : [path]) {
      const text = readOr(file)
      hash.update(`\0${file}\0${text?.length ?? 'absent'}\0`)
      if (text !== undefined) hash.update(text)
    }
  }
  return hash.digest('hex')
}

/** The bytes of a file; undefined if it does not exist, or was just removed. */
function readOr(path) {
  try {
    return readFileSync(inRoot(path))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The text of a stamp file, or '' when there is none. */
export const readStamp = (path) => readOr(path)?.toString('utf8').trim() ?? ''

/** Is this module the script that Node was started with? */
export const isMain = (url) => fileURLToPath(url) === realpathSync(process.argv[1] ?? '.')

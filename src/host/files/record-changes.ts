import { dirname } from 'node:path'
import type { FileAccess, Files, Host } from '../host.ts'
import { sha256Hex } from './sha256.ts'

/** A file just before it is written or removed. */
export interface FileChange {
  /** The real path, all links followed. */
  readonly path: string
  /** What it is; absent if it is not there. */
  readonly before?: { readonly bytes: Uint8Array; readonly mode: number }
  /** The hash of what it becomes; absent if it is removed. */
  readonly after?: string
  /** Folders that are made for it, the outermost first. */
  readonly folders: readonly string[]
}

/** The same host, which has what each file was kept before it is changed. If it cannot be kept, nothing is changed. */
export function withChangeRecording<H extends Host>(host: H, record: (change: FileChange) => Promise<void>): H {
  return {
    ...host,
    files: recordFileChanges(host.files, record),
    ...(host.withAccess && {
      withAccess(access: readonly FileAccess[]) {
        const granted = host.withAccess?.(access) ?? host
        return { ...granted, files: recordFileChanges(granted.files, record) }
      },
    }),
  }
}

function recordFileChanges(files: Files, record: (change: FileChange) => Promise<void>): Files {
  // What is kept is what the file holds when it is replaced: otherwise an undo would take somebody else's change back too.
  const update: Files['update'] = (path, transform, options) =>
    files.update(
      path,
      async (current) => {
        const bytes = await transform(current)
        if (!bytes) return undefined
        const after = sha256Hex(bytes)
        await record({ ...(await captureChange(files, path, current)), after })
        return bytes
      },
      options,
    )
  return {
    ...files,
    write: (path, bytes, options) => update(path, async () => bytes, options),
    update,
    async remove(path) {
      const info = await files.info(path)
      // An empty folder holds nothing to be kept.
      if (info?.kind === 'file') await record(await captureChange(files, path, await files.read(path)))
      await files.remove(path)
    },
  }
}

async function captureChange(files: Files, path: string, bytes: Uint8Array | undefined): Promise<FileChange> {
  const real = await files.resolve(path)
  const info = bytes && (await files.info(path))
  if (!bytes || !info) return { path: real, folders: await listMissingFolders(files, real) }
  return { path: real, before: { bytes, mode: info.mode }, folders: [] }
}

async function listMissingFolders(files: Files, path: string): Promise<string[]> {
  const missing: string[] = []
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((await files.info(folder).catch(() => 'outside')) !== undefined) break
    missing.unshift(folder)
  }
  return missing
}

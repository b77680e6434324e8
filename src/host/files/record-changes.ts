import { dirname } from 'node:path'
import type { ApprovedFile } from '../../model/security/approved-file.ts'
import type { Files, Host } from '../host.ts'
import { sha256Hex } from './sha256.ts'

export interface FileChange {
  /** With all links resolved. */
  readonly path: string
  /** Absent if the file does not exist. */
  readonly before?: { readonly bytes: Uint8Array; readonly mode: number }
  /** The hash of the new content; absent if the file is removed. */
  readonly after?: string
  /** Folders that are created for it, outermost first. */
  readonly folders: readonly string[]
}

/** Records the content of each file before it is changed. If that fails, nothing is changed. */
export function withChangeRecording<H extends Host>(host: H, record: (change: FileChange) => Promise<void>): H {
  return {
    ...host,
    files: recordFileChanges(host.files, record),
    ...(host.withAccess && {
      withAccess(access: readonly ApprovedFile[]) {
        const granted = host.withAccess?.(access) ?? host
        return { ...granted, files: recordFileChanges(granted.files, record) }
      },
    }),
  }
}

function recordFileChanges(files: Files, record: (change: FileChange) => Promise<void>): Files {
  // The recorded content is that at the moment of replacement: an undo must not revert somebody else's change.
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
      // An empty folder has no content to record.
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

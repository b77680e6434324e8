import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { FileAccess, Files, Host } from './host.ts'

/** A file just before it is written or removed. */
export interface Former {
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
export function keepingFormer<H extends Host>(host: H, keep: (former: Former) => Promise<void>): H {
  return {
    ...host,
    files: filesKeeping(host.files, keep),
    ...(host.granting && {
      granting(access: readonly FileAccess[]) {
        const granted = host.granting?.(access) ?? host
        return { ...granted, files: filesKeeping(granted.files, keep) }
      },
    }),
  }
}

function filesKeeping(files: Files, keep: (former: Former) => Promise<void>): Files {
  // What is kept is what the file holds when it is replaced: otherwise an undo would take somebody else's change back too.
  const update: Files['update'] = (path, make, how) =>
    files.update(
      path,
      async (current) => {
        const bytes = await make(current)
        if (!bytes) return undefined
        const after = createHash('sha256').update(bytes).digest('hex')
        await keep({ ...(await formerOf(files, path, current)), after })
        return bytes
      },
      how,
    )
  return {
    ...files,
    write: (path, bytes, how) => update(path, async () => bytes, how),
    update,
    async remove(path) {
      const info = await files.info(path)
      // An empty folder holds nothing to be kept.
      if (info?.kind === 'file') await keep(await formerOf(files, path, await files.read(path)))
      await files.remove(path)
    },
  }
}

async function formerOf(files: Files, path: string, bytes: Uint8Array | undefined): Promise<Former> {
  const real = await files.resolve(path)
  const info = bytes && (await files.info(path))
  if (!bytes || !info) return { path: real, folders: await missingFolders(files, real) }
  return { path: real, before: { bytes, mode: info.mode }, folders: [] }
}

async function missingFolders(files: Files, path: string): Promise<string[]> {
  const missing: string[] = []
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    if ((await files.info(at).catch(() => 'outside')) !== undefined) break
    missing.unshift(at)
  }
  return missing
}

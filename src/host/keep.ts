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
  return {
    ...files,
    async write(path, bytes, how) {
      const after = createHash('sha256').update(bytes).digest('hex')
      await keep({ ...(await formerOf(files, path)), after })
      await files.write(path, bytes, how)
    },
    async remove(path) {
      const info = await files.info(path)
      // An empty folder holds nothing to be kept.
      if (info?.kind === 'file') await keep(await formerOf(files, path))
      await files.remove(path)
    },
  }
}

async function formerOf(files: Files, path: string): Promise<Former> {
  const info = await files.info(path)
  const real = await files.resolve(path)
  if (info?.kind !== 'file') return { path: real, folders: info ? [] : await missingFolders(files, real) }
  return { path: real, before: { bytes: await files.read(path), mode: info.mode }, folders: [] }
}

async function missingFolders(files: Files, path: string): Promise<string[]> {
  const missing: string[] = []
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    if ((await files.info(at).catch(() => 'outside')) !== undefined) break
    missing.unshift(at)
  }
  return missing
}

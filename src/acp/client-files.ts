import { dirname, join, relative } from 'node:path'
import type { Files, Host } from '../host/host.ts'
import { isInsideFolder } from '../model/inside-folder.ts'
import type { ApprovedFile } from '../model/security/approved-file.ts'
import { tryOrUndefined } from '../model/try-or-undefined.ts'
import { ERROR_CODE, ProtocolError } from './protocol.ts'

/** The text files of an editor, with what is not saved yet. Each function is absent if the editor does not have it. */
export interface ClientFiles {
  readonly readText?: (path: string) => Promise<string>
  readonly writeText?: (path: string, text: string) => Promise<void>
}

/**
 * Reads and writes text files of the workspace through the editor. The local host checks every path first, and holds the
 * lock of the file; files that the editor does not know, and all that is not UTF-8 text, are read and written locally.
 */
export function withClientFiles(host: Host, client: ClientFiles, folders: readonly string[]): Host {
  if (!client.readText && !client.writeText) return host
  return {
    ...host,
    files: overlayFiles(host.files, client, folders),
    ...(host.withAccess && {
      withAccess(access: readonly ApprovedFile[]) {
        const granted = host.withAccess?.(access) ?? host
        return { ...granted, files: overlayFiles(granted.files, client, folders) }
      },
    }),
  }
}

interface FileContent {
  readonly bytes: Uint8Array | undefined
  /** The editor has this file open, or can open it. */
  readonly isKnown: boolean
}

function overlayFiles(local: Files, { readText, writeText }: ClientFiles, folders: readonly string[]): Files {
  /** A link below the workspace may lead elsewhere, and the editor would follow it: such files stay local. */
  async function isEditorPath(path: string): Promise<boolean> {
    const folder = folders.find((one) => isInsideFolder(path, one))
    if (folder === undefined || folder === path) return false
    return (await local.resolve(path)) === join(await local.resolve(folder), relative(folder, path))
  }

  async function readContent(path: string, disk: Uint8Array | undefined): Promise<FileContent> {
    const diskText = disk && decodeText(disk)
    // Not text, or in another encoding, which the editor would have to guess.
    if (disk && diskText === undefined) return { bytes: disk, isKnown: false }
    if (!readText) return { bytes: disk, isKnown: true }
    const text = await readText(path).catch(ignoreUnlessCancelled)
    if (text === undefined || (text === '' && !disk)) return { bytes: disk, isKnown: false }
    const adapted = adaptToDisk(text, diskText)
    return { bytes: adapted === diskText ? disk : Buffer.from(adapted), isKnown: true }
  }

  const update: Files['update'] = async (path, transform, options) => {
    if (!writeText || !(await isEditorPath(path))) return local.update(path, transform, options)
    await local.update(
      path,
      async (disk) => {
        // Clients show a question about a file that does not exist as an error.
        const { bytes: current, isKnown } = disk ? await readContent(path, disk) : { bytes: disk, isKnown: false }
        const next = await transform(current)
        const text = next && decodeText(next)
        if (!next || text === undefined) return next
        // A client need not create folders.
        const isNew = !current && (await local.info(dirname(path)))?.kind === 'folder'
        if (!isKnown && !isNew) return next
        try {
          await writeText(path, text)
        } catch (error) {
          // The editor has the file: writing it behind its back would lose what is not saved there.
          if (!isNew) throw error
          ignoreUnlessCancelled(error)
          return next
        }
        return undefined
      },
      options,
    )
  }

  return {
    ...local,
    async read(path, range, maxBytes) {
      const disk = await local.read(path, range, maxBytes).catch((error: unknown) => ({ error }))
      const isMissing = !(disk instanceof Uint8Array)
      // Only large files are read in parts.
      if (range || !readText || !(await isEditorPath(path).catch(() => false))) {
        if (isMissing) throw disk.error
        return disk
      }
      // What the local host refuses is not read through the editor either.
      if (isMissing && (await local.info(path).catch(() => 'refused')) !== undefined) throw disk.error
      const { bytes } = await readContent(path, isMissing ? undefined : disk)
      if (bytes) return bytes
      throw isMissing ? disk.error : new Error(`File not found: ${path}`)
    },
    write: (path, bytes, options) => update(path, () => Promise.resolve(bytes), options),
    update,
  }
}

/** What the editor does not have is read from the disk; but after a cancellation nothing is read or written any more. */
function ignoreUnlessCancelled(error: unknown): undefined {
  if (error instanceof ProtocolError && error.code === ERROR_CODE.cancelled) throw error
}

/** Editors leave out the byte order mark, and have one form of line ends; an edit must not change all lines. */
function adaptToDisk(text: string, diskText: string | undefined): string {
  if (diskText === undefined) return text
  const mark = diskText.startsWith(BYTE_ORDER_MARK) && !text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  return mark + (diskText.includes('\r\n') && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text)
}

const BYTE_ORDER_MARK = '\uFEFF'

function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  return tryOrUndefined(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
}

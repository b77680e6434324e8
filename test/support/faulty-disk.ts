import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Fs = typeof fs
type Wrap<Name extends keyof Fs> = (real: Fs[Name], pathOf: (handle: unknown) => string) => Fs[Name]

/** Ways to break functions of the disk, by name: each gets the real one, and a way to tell which file a handle is of. */
export type Breaks = { readonly [Name in keyof Fs]?: Wrap<Name> }

/** Does something while functions of the disk are broken. Only one at a time. */
export async function onBrokenDisk<T>(breaks: Breaks, work: () => T | Promise<T>): Promise<T> {
  const paths = new Map<unknown, string>()
  const open = fs.openSync
  const tracked: Fs['openSync'] = (path, ...rest) => {
    const handle = open(path, ...rest)
    paths.set(handle, String(path))
    return handle
  }
  const former = new Map<string, unknown>([['openSync', open]])
  Reflect.set(fs, 'openSync', tracked)
  for (const [name, wrap] of Object.entries(breaks) as [keyof Fs, Wrap<keyof Fs>][]) {
    if (!former.has(name)) former.set(name, fs[name])
    Reflect.set(
      fs,
      name,
      wrap(fs[name], (handle) => paths.get(handle) ?? ''),
    )
  }
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    for (const [name, real] of former) Reflect.set(fs, name, real)
    syncBuiltinESMExports()
  }
}

/** An error as the system gives it. */
export function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected`), { code })
}

/** A write that fails at the n-th time on files of a kind: as on a full disk, half of it still gets there. */
export function failingWrite(code: string, files: RegExp, at: number): Breaks {
  let count = 0
  return {
    writeSync: (real, pathOf) =>
      ((handle: number, bytes: Uint8Array, from: number = 0) => {
        if (!files.test(pathOf(handle)) || ++count < at) return real(handle, bytes, from)
        real(handle, bytes, from, Math.floor((bytes.length - from) / 2))
        throw systemError(code)
      }) as Fs['writeSync'],
  }
}

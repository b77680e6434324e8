import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Ended, stage } from './command.ts'
import { root } from './paths.ts'

type Here = Awaited<ReturnType<typeof stage>>
type RunThere = (args: readonly string[], roomAgain?: boolean) => Promise<Ended>

/** Runs the command with its data on a file system of so many kB; gives false where none can be mounted. */
export async function onSmallDisk(here: Here, size: number, work: (run: RunThere) => Promise<void>): Promise<boolean> {
  if (spawnSync('unshare', ['-rm', 'true']).status !== 0) return false
  const data = join(here.home, 'small')
  mkdirSync(data)
  // The file system lives as long as this shell, which runs what it is told line by line.
  const shell = spawn('unshare', ['-rm', 'sh'], {
    cwd: here.work,
    env: { ...here.env, XDG_DATA_HOME: data },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  shell.stdout.on('data', (text: Buffer) => (out += text.toString()))
  shell.stderr.on('data', (text: Buffer) => (err += text.toString()))
  const say = (line: string): Promise<number> => {
    ;[out, err] = ['', '']
    return new Promise((resolve) => {
      const look = (): void => {
        const said = /\nENDED (\d+)\n$/.exec(out)
        if (!said) return
        shell.stdout.off('data', look)
        resolve(Number(said[1]))
      }
      shell.stdout.on('data', look)
      shell.stdin.write(`${line}; code=$?; echo; echo ENDED $code\n`)
    })
  }
  try {
    if ((await say(`mount -t tmpfs -o size=${size}k none ${data}`)) !== 0) return false
    await work(async (args, roomAgain) => {
      if (roomAgain) await say(`mount -o remount,size=${size * 100}k ${data}`)
      const words = [process.execPath, join(root, 'bin/dragoman'), ...args].map((word) => `'${word}'`).join(' ')
      const code = await say(`${words} < /dev/null`)
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { code, out, err }
    })
    return true
  } finally {
    shell.kill('SIGKILL')
  }
}

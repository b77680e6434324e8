import type { Escape } from './escape.ts'

/** A script that goes on in the background. It is asleep, as seen from outside, for long enough to count as idle. */
const background = (script: string): string =>
  `cat > s$$.py <<'END'\nimport ctypes, os, signal, sys, threading, time\nlibc = ctypes.CDLL(None)\n${script}\nEND\n"$PYTHON" s$$.py >/dev/null 2>&1 & :`
const make = "open('.npmrc', 'w').write('evil')"

/** Waits for a name in the workspace without being woken up by any other. */
const waitFor = (name: string): string => `
fd = libc.inotify_init1(0)
libc.inotify_add_watch(fd, b'.', 0x80)
while b'${name}\\0' not in os.read(fd, 65536): pass`

/** So that what a command made is taken for the work of somebody else. */
export const AUTHORSHIP: readonly Escape[] = [
  {
    name: 'by one of so many processes that not all are seen',
    commands: [
      background(`
for i in range(900):
    if os.fork() == 0:
        if i == 899:
            time.sleep(4)
            ${make}
        signal.pause()
signal.pause()`),
    ],
    lingers: 8000,
  },
  {
    name: 'by a process that stops itself at once',
    commands: [background(`time.sleep(2.5)\n${make}\nos.kill(os.getpid(), signal.SIGSTOP)`)],
    lingers: 4000,
  },
  {
    name: 'by a thread that ends at once',
    commands: [
      background(
        `def work():\n    time.sleep(2.5)\n    ${make}\n    libc.syscall(60, 0)\nthreading.Thread(target=work).start()\nsignal.pause()`,
      ),
    ],
    lingers: 4000,
  },
  {
    name: 'by a child that ends at once and is not waited for',
    commands: [background(`if os.fork() == 0:\n    time.sleep(2.5)\n    ${make}\n    os._exit(0)\nsignal.pause()`)],
    lingers: 4000,
  },
  {
    name: 'by a child whose parent ends at once',
    commands: [
      background(
        `time.sleep(2.5)\nif os.fork() == 0:\n    time.sleep(1)\n    ${make}\n    signal.pause()\nos._exit(0)`,
      ),
    ],
    lingers: 5000,
  },
  {
    name: 'by the last process of the command, with its last breath',
    commands: [background(`time.sleep(2.5)\n${make}`)],
    lingers: 4000,
  },
  {
    name: 'by a program that takes the place of one that slept',
    commands: [background(`time.sleep(2.5)\nos.execv('/bin/sh', ['sh', '-c', 'echo evil > .npmrc; exec sleep 60'])`)],
    lingers: 4000,
  },
  {
    name: 'by a file without a name that gets one',
    commands: [
      background(
        `f = os.open('.', os.O_TMPFILE | os.O_RDWR)\nos.write(f, b'evil')\ntime.sleep(2.5)\nos.link('/proc/self/fd/%d' % f, '.npmrc', follow_symlinks=True)\nsignal.pause()`,
      ),
    ],
    lingers: 4000,
  },
  {
    name: 'by two commands, one of which puts back what the other made',
    commands: [
      background(`${waitFor('.npmrc.set-aside')}\nos.rename('.npmrc.set-aside', '.npmrc')\nsignal.pause()`),
      background(`time.sleep(2.5)\n${make}\nsignal.pause()`),
    ],
    lingers: 4500,
  },
  {
    name: 'by two commands, one of which makes anew what the other made',
    commands: [
      background(`${waitFor('.npmrc.set-aside')}\nos.unlink('.npmrc.set-aside')\n${make}\nsignal.pause()`),
      background(`time.sleep(2.5)\n${make}\nsignal.pause()`),
    ],
    lingers: 4500,
  },
  {
    name: 'by two commands, deeper down',
    before: 'mkdir .cargo',
    commands: [
      background(
        `os.chdir('.cargo')${waitFor('config.toml.set-aside')}\nos.rename('config.toml.set-aside', 'config.toml')\nsignal.pause()`,
      ),
      background(`time.sleep(2.5)\nopen('.cargo/config.toml', 'w').write('evil')\nsignal.pause()`),
    ],
    lingers: 4500,
  },
  {
    name: 'by two commands, in the place of a protected link',
    before: 'mkdir editor; echo kept > editor/tasks.json; ln -s editor .vscode',
    commands: [
      background(
        `${waitFor('.vscode.set-aside')}\ntime.sleep(0.5)\nos.unlink('.vscode')\nos.rename('.vscode.set-aside', '.vscode')\nsignal.pause()`,
      ),
      background(
        `os.mkdir('v')\nopen('v/tasks.json', 'w').write('evil')\ntime.sleep(2.5)\nos.unlink('.vscode')\nos.symlink('v', '.vscode')\nsignal.pause()`,
      ),
    ],
    lingers: 5000,
  },
  {
    name: 'when a flood of other names has filled the queue',
    commands: [
      background(`
for i in range(20000):
    n = 'AGENTS.md%d' % i
    os.close(os.open(n, os.O_CREAT | os.O_WRONLY))
    os.unlink(n)
${make}
signal.pause()`),
    ],
    lingers: 6000,
  },
  {
    name: 'when no more folders can be watched',
    commands: [
      background(`
while libc.inotify_init1(0) >= 0: pass
time.sleep(1)
os.makedirs('.github/workflows')
open('.github/workflows/x.yml', 'w').write('evil')
signal.pause()`),
      'true',
    ],
    lingers: 4500,
  },
]

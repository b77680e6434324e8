/** What `dragoman --help` prints. */
export const HELP = `Usage: dragoman [options] [prompt]
       dragoman <command> [options]

Works on a prompt with tools, in the current folder, with whatever model you have.

Options:
  -p, --prompt <text>          the prompt; what is piped in stands before it
  -m, --model <name>           provider/model: gemini/gemini-2.5-pro, ollama/qwen3, rehearsal/hello
  -o, --output-format <form>   text, json or stream-json
      --approval-mode <mode>   default (ask), auto_edit, yolo (ask nothing) or plan (only look)
  -y, --yolo                   the same as --approval-mode yolo
      --allowed-tools <list>   run these unasked: read_file, run_shell_command(git status)
  -r, --resume [session]       go on with a session: its id, or the latest
      --fork [session]         branch off from a session
      --max-turns <n>          stop after so many turns
      --max-cost <dollars>     stop before it costs more
      --cwd <folder>           the folder to work in
      --include-directories <list>  more folders to work in
      --system-file <file>     another system prompt
      --sandbox <mode>         auto (commands run in a sandbox where there is one), on or off
      --sandbox-network        commands in the sandbox may reach the network
      --record <folder>        keep every exchange, without secrets, to play it again
      --trace <file>           write down when what went over the wire
  -h, --help   -v, --version

Commands:
  login      store a key or a sign-in; logout forgets it
  models     what can be used here, with window and price, and why the rest cannot
  sessions   list, show, export and remove sessions
  undo       put files back as they were before a turn
  doctor     examine a model live; or, with --local, this machine
  replay     play a recorded session again, and see what differs
  bug        make a file for a report, without secrets
  policy     try out rules, and say what they mean
  tour       a scripted tour, with no key and no network
  rehearse   a scripted model server, to try clients against
  wire       read and write what goes over the wire, to debug a provider

Examples:
  dragoman -p "why does the test fail?"
  git diff | dragoman -p "write a commit message"
  dragoman -m anthropic/claude-sonnet-4-5 --approval-mode auto_edit -p "rename foo to bar"
  dragoman -p "go on" --resume

Exit codes: 0 done, 1 failure, 41 sign-in, 42 input, 52 config, 53 limit, 130 interrupted.
`

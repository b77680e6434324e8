/** What `dragoman wire --help` prints. */
export const WIRE_HELP = `Usage: dragoman wire <decode|encode|read> [options]

  decode   read a provider's answer: what it says, which calls may run, which may not and why
  encode   write the request body for a conversation
  read     read a request body back into a conversation

Wires: gemini, code-assist, openai-chat, openai-responses, anthropic

Options:
  --wire <wire>          which language (with --batch DIR, decode takes each recording's own)
  --file <file>          the input; standard input without it
  --batch <dir>          every recording in a folder, one JSON line each
  --tools <file>         decode: the tools that were declared, a JSON list of {name, description, schema}
  --status <number>      decode: the HTTP status of the answer (200)
  --content-type <type>  decode: the content type of the answer (told by its first byte without it)
  --model <name>         encode: the model named in the body

Examples:
  curl -sN … | dragoman wire decode --wire openai-chat
  dragoman wire encode --wire anthropic --file conversation.json
  dragoman wire read --wire gemini --file body.json | dragoman wire encode --wire openai-responses
`

import type { ApprovalMode } from '../../policy/policy.ts'
import { editProposal, openInEditor } from '../external-editor.ts'
import { EXIT_CODE } from '../user-error.ts'
import type { AppParts } from './app-parts.ts'
import type { UiAction } from './input/handle-key.ts'
import { writeInputHistory } from './input/input-history-file.ts'
import { applyEditorEdit } from './input/text-editor.ts'
import { insertDroppedFiles } from './mention/dropped-files.ts'
import { setMode } from './session-actions.ts'
import { findCallPart } from './session-history.ts'
import { showLastCall } from './slash/show-commands.ts'
import { submitInput } from './submit-input.ts'

export async function performAction(app: AppParts, action: UiAction): Promise<void> {
  const { ui, controller, folder } = app
  switch (action.do) {
    case 'submit':
      writeInputHistory(folder, ui.state.history)
      return submitInput(app, action.text)
    case 'answer': {
      const { do: _action, ...reply } = action
      return controller.answer(reply)
    }
    case 'modify':
      return modifyProposal(app, action.ask)
    case 'stop':
      app.userShell.stop()
      return controller.stop()
    case 'rewind':
      return (await import('./slash/rewind.ts')).rewindSession(app, '')
    case 'quit':
      return app.exit(EXIT_CODE.ok)
    case 'details':
      return showLastCall(app)
    case 'editor':
      return editMessage(app)
    case 'next-mode':
      return setMode(app, NEXT_MODES[app.session.mode])
    case 'redraw':
      return ui.redraw()
    case 'suspend':
      return ui.suspendFor(suspendProcess)
    case 'complete':
      return app.completer.update()
    case 'attach-dropped':
      return ui.update((state) => ({ ...state, editor: insertDroppedFiles(state.editor, action.text, folder) }))
    case 'paste-image':
      return pasteImage(app)
    default:
      return action satisfies never
  }
}

/** What Shift-Tab switches to. It never leads to `yolo`, which must be typed, so that no key too many disables approval. */
const NEXT_MODES: Readonly<Record<ApprovalMode, ApprovalMode>> = {
  default: 'auto_edit',
  auto_edit: 'plan',
  plan: 'default',
  yolo: 'default',
}

/** Attaches the image on the clipboard; without one, says how else to attach an image. */
async function pasteImage({ ui, folder }: AppParts): Promise<void> {
  const { saveClipboardImage } = await import('./clipboard-image.ts')
  const path = await saveClipboardImage()
  if (path === undefined) return ui.update((state) => ({ ...state, hint: 'attach-image' }))
  ui.update((state) => {
    const editor = applyEditorEdit(state.editor, { do: 'insert', text: path })
    return { ...state, editor: insertDroppedFiles(editor, path, folder) }
  })
}

async function editMessage({ ui, settings }: AppParts): Promise<void> {
  const written = await ui.suspendFor(() => openInEditor(ui.state.editor.text, 'message.md', settings.config.editor))
  if ('problem' in written) return ui.notify(written.problem, 'warn')
  const text = written.text.trimEnd()
  ui.update((state) => ({ ...state, editor: applyEditorEdit(state.editor, { do: 'set', text }) }))
}

async function modifyProposal({ ui, controller, session, settings }: AppParts, id: string): Promise<void> {
  const request = controller.findApproval(id)
  if (!request) return
  const call = findCallPart(session.agent.session.turns, request.call)
  const { toolbox } = session.agent
  const reply = await ui.suspendFor(() => editProposal(request, call, toolbox, settings.config.editor))
  if ('problem' in reply) ui.notify(reply.problem, 'warn')
  else controller.answer(reply)
}

/** Stops until the shell continues this process; without a shell the system ignores the signal. */
async function suspendProcess(): Promise<void> {
  // The whole process group: if the process that started us (npm) does not stop too, the shell does not notice.
  process.kill(0, 'SIGTSTP')
  await new Promise((resolve) => setTimeout(resolve, 100))
}

import { render } from 'preact'
import 'uplot/dist/uPlot.min.css'
import './app.css'
import { App } from './app.tsx'
import { handleKey } from './keyboard.ts'
import { start } from './store.ts'
import { applyTheme } from './theme.ts'

const place = document.querySelector('#app')
if (place) {
  applyTheme()
  document.addEventListener('keydown', handleKey)
  render(<App />, place)
  void start()
}

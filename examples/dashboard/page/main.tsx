/** Starts the page. */
import { renderPage } from './render-page.tsx';

renderPage();

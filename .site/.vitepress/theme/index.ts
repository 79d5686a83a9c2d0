/// <reference types="vite/client" />
/** The theme of the site: that of VitePress, with the changes of style.css. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;

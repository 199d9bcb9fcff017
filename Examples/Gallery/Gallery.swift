import Foundation

#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK
    import CMallocOptions
#endif

/// A window that shows thousands of images. Requires the package trait `GTK`.
@main
enum Gallery {
    @MainActor static func main() {
        #if GTK
            do {
                guard let options = try GalleryOptions(CommandLine.arguments.dropFirst()) else {
                    return print(GalleryOptions.help)
                }
                try GalleryApp.run(options)
            } catch {
                end("\(error)", error is UsageError ? 2 : 1)
            }
        #else
            end("built without GTK; run it with: swift run -c release --traits GTK gallery", 1)
        #endif
    }

    private static func end(_ problem: String, _ status: Int32) -> Never {
        FileHandle.standardError.write(Data("gallery: \(problem)\n".utf8))
        exit(status)
    }
}

#if GTK
    /// The application, which assembles the parts and runs GTK's main loop.
    @MainActor private enum GalleryApp {
        private struct NoDisplay: Error, CustomStringConvertible {
            let description = "cannot open a window: no display is available"
        }

        static func run(_ options: GalleryOptions) throws {
            guard gtk_init_check() != 0 else { throw NoDisplay() }
            MainActorBridge.install()
            // With this threshold, the memory of each freed image is returned to the system. By default, glibc keeps
            // most of this memory in the heaps of its threads, which adds about half of the images' own memory.
            #if canImport(Glibc)
                mallopt(M_MMAP_THRESHOLD, 64 << 10)
            #endif
            let conditions = NetworkConditions(
                delay: .milliseconds(options.delay), failureRate: Double(options.failures) / 100)
            let source = try GallerySource(options, conditions: conditions)
            let stack = GalleryStack(
                memoryLimit: options.memoryLimit, usesDisk: options.usesDisk, conditions: conditions)
            let loop = g_main_loop_new(nil, 0)
            Style.apply()
            let window = GalleryWindow(source: source, stack: stack, cellWidth: options.cellWidth) {
                g_main_loop_quit(loop)
            }
            window.present()
            let selfTest = options.isSelfTest ? SelfTest(window: window, stack: stack) : nil
            selfTest?.listen()
            g_main_loop_run(loop)
            withExtendedLifetime((window, selfTest, source)) {}
            // Skips the exit handlers of libraries: libcurl's thread may still use state that the TLS library's
            // handlers release.
            _exit(0)
        }
    }

    /// The style sheet of the window.
    @MainActor private enum Style {
        static func apply() {
            let provider = gtk_css_provider_new()
            gtk_css_provider_load_from_data(provider, sheet, -1)
            gtk_style_context_add_provider_for_display(
                gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
            // Menus and sliders of the theme become dark as well.
            Property.set(
                "gtk-application-prefer-dark-theme", of: UnsafeMutableRawPointer(gtk_settings_get_default()), to: true)
        }

        private static let sheet = """
            window.gallery { background: #14161a; color: #d9dde3; font-family: Cantarell, Inter, sans-serif; }
            window.gallery headerbar {
                background: #1b1e24; color: #e8ebf0; border-bottom: 1px solid #0c0d10; box-shadow: none;
                min-height: 46px;
            }
            .title { font-weight: bold; }
            .subtitle { color: #8b93a1; font-size: 85%; }
            gridview { background: transparent; padding: 10px; }
            gridview > child box { margin: 0; border-spacing: 0; }
            gridview > child { padding: 6px; border-radius: 12px; background: transparent; outline: none; }
            gridview > child:hover { background: rgba(255, 255, 255, 0.05); }
            gridview > child:selected { background: rgba(86, 156, 255, 0.22); }
            gridview > child:focus-visible { box-shadow: inset 0 0 0 2px #569cff; }
            alcedo-image { border-radius: 8px; background: #1f232a; }
            alcedo-image.empty { background: linear-gradient(160deg, #22272f, #1b1f26); }
            .cell-name { color: #a3abb8; font-size: 85%; margin-top: 5px; }
            gridview > child:selected .cell-name { color: #ffffff; }
            .failed alcedo-image { background: #2a1d20; }
            .failure { color: #e08a8f; }
            .failure label { font-size: 80%; }
            .details { background: #1b1e24; border-left: 1px solid #0c0d10; padding: 16px; }
            .details-name { font-size: 125%; font-weight: bold; color: #f2f4f7; }
            .key { color: #7d8593; font-size: 90%; }
            .value { font-size: 90%; }
            .status { background: #1b1e24; border-top: 1px solid #0c0d10; padding: 6px 14px; font-size: 88%; }
            .status label { color: #a3abb8; }
            .dot { border-radius: 5px; min-width: 10px; min-height: 10px; }
            .dot.memory { background: #4cc38a; }
            .dot.disk { background: #4ba3e3; }
            .dot.response { background: #a78bfa; }
            .dot.network { background: #f0a94a; }
            .dot.local { background: #67c6c0; }
            .dot.failed { background: #e5646d; }
            .dot.loading { background: #6b7280; }
            .nothing { color: #7d8593; font-size: 120%; }
            """
    }
#endif

import Foundation

#if GTK
    import Alcedo
    import AlcedoGTK
    import CGTK
    import CMalloc
#endif

/// A window with thousands of pictures. Needs the package trait `GTK`.
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
            end("built without GTK; try: swift run -c release --traits GTK gallery", 1)
        #endif
    }

    private static func end(_ problem: String, _ status: Int32) -> Never {
        FileHandle.standardError.write(Data("gallery: \(problem)\n".utf8))
        exit(status)
    }
}

#if GTK
    /// Puts the parts together and runs GTK's main loop.
    @MainActor private enum GalleryApp {
        private struct NoDisplay: Error, CustomStringConvertible {
            let description = "there is no display to open a window on"
        }

        static func run(_ options: GalleryOptions) throws {
            guard gtk_init_check() != 0 else { throw NoDisplay() }
            MainActorBridge.install()
            // Pictures are then given back to the system one by one. By default glibc comes to keep most of them in the
            // heaps of its threads, half as much again as there are pictures.
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
            // At once, without the exit handlers of libraries: libcurl's thread may be using what those of TLS take down.
            _exit(0)
        }
    }
#endif

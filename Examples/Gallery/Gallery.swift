import AlcedoLibc
import ExampleSupport

/// A window with thousands of pictures. Needs the package trait `GTK`.
@main
enum Gallery {
    @MainActor static func main() {
        #if GTK
            do {
                guard let options = try GalleryOptions(CommandLine.arguments.dropFirst()) else {
                    return Console.output(GalleryOptions.help)
                }
                try GalleryApp.run(options)
            } catch {
                Console.problem("gallery: \(error)")
                exit((error is UsageError ? ExitStatus.usage : .failure).rawValue)
            }
        #else
            Console.problem("gallery: built without GTK; try: swift run -c release --traits GTK gallery")
            exit(ExitStatus.failure.rawValue)
        #endif
    }
}

import AlcedoCore
import ExampleSupport

/// The command-line tool over the default stack.
@main
enum AlcedoTool {
    private static let help = """
        alcedo loads, caches and shows images.

        usage:
          alcedo load IMAGE... [options]         load images, print a table, draw a contact sheet
          alcedo inspect IMAGE... [options]      say what images are, as text or JSON
          alcedo decode IMAGE... [options]       write the pixels of images, and of every frame
          alcedo convert IMAGE... [options]      write images in another format
          alcedo thumbnail IMAGE... [options]    write small pictures of images
          alcedo contact-sheet IMAGE... [options]
                                                 draw many images on one picture
          alcedo show IMAGE... [options]         draw images in the terminal, and play them
          alcedo cache stat|list|verify|trim|clear [options]
                                                 look into the cache on disk, and put it in order
          alcedo bench decode DIR [options]      our decoders against the same C libraries, as ratios
          alcedo bench memory FILE [options]     what decoding an image adds to the process's memory
          alcedo bench disk-cache [options]      puts and gets of the disk caches beside bare system calls
          alcedo bench memory-cache [options]    hits, misses and puts of the memory caches; replays traces
          alcedo bench response-cache [options]  fresh hits of the response cache
          alcedo bench download [options]        downloads beside a C loop, URLSession and aiohttp
          alcedo bench pipeline [options]        hits, equal requests and memory of the whole stack
          alcedo bench binding [options]         what binding images to views takes of the main thread
          alcedo bench resize [options]          the processors, beside Pillow
          alcedo bench thumbnail [options]       thumbnails, beside Pillow and libvips
          alcedo bench all [options]             all of them, and a report

        An IMAGE is a URL, a file, a folder, a pattern such as '*.jpg', or - for standard input; --list FILE names more.
        alcedo COMMAND --help says more; alcedo --version says which this is.

        It ends with 0, with 1 when something failed, with 2 when the command line makes no sense, with 130 after Ctrl-C,
        with 143 after SIGTERM and 129 after SIGHUP.

        """

    private static let commands: [any ToolCommand.Type] = [
        LoadCommand.self, InspectCommand.self, DecodeCommand.self, ConvertCommand.self, ThumbnailCommand.self,
        ContactSheetCommand.self, ShowCommand.self, CacheCommand.self, BenchCommand.self, DiskCacheBenchCommand.self,
        MemoryCacheBenchCommand.self, ResponseCacheBenchCommand.self, DownloadBenchCommand.self,
        PipelineBenchCommand.self, BindingBenchCommand.self, ResizeBenchCommand.self, ThumbnailBenchCommand.self,
        AllBenchCommand.self,
    ]

    static func main() {
        EarlyInterruption.heed(isQuiet: CommandLine.arguments.contains { $0 == "--quiet" || $0 == "-q" })
        ExitStatus.end("alcedo") {
            var words = Array(CommandLine.arguments.dropFirst())
            if words.first == "help", words.count > 1 { words = words.dropFirst() + ["--help"] }
            // Those of two words first: `bench` alone is a command, too.
            for count in [2, 1] where words.count >= count {
                let name = words.prefix(count).joined(separator: " ")
                if let command = commands.first(where: { $0.name == name }) {
                    return try await command.start(words.dropFirst(count))
                }
            }
            switch words.first {
            case "--help", "-h", "help": Console.output(help)
            case "--version": Console.output("alcedo \(AlcedoVersion.text)\n")
            case let word?: throw UsageError("there is no command '\(word)'")
            case nil: throw UsageError("a command is missing")
            }
            return .success
        }
    }
}

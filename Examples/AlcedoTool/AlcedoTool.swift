import ExampleSupport

/// The command-line tool over the default stack.
@main
enum AlcedoTool {
    private static let help = """
        alcedo loads, caches and shows images.

        usage:
          alcedo load URL|FILE... [options]      load images, print a table, draw a contact sheet
          alcedo thumbnail URL|FILE... [options] write small pictures of images
          alcedo contact-sheet URL|FILE... [options]
                                                 draw many images on one picture
          alcedo show URL|FILE|FOLDER... [options]
                                                 draw images in the terminal, and play them
          alcedo inspect URL|FILE... [options]   say what images are, as text or JSON
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

        alcedo COMMAND --help says more.

        """

    static func main() {
        ExitStatus.end("alcedo") {
            let words = CommandLine.arguments.dropFirst()
            switch words.first {
            case "load": return try await LoadCommand(words.dropFirst()).run()
            case "thumbnail": return try await ThumbnailCommand(words.dropFirst()).run()
            case "contact-sheet": return try await ContactSheetCommand(words.dropFirst()).run()
            case "show": return try await ShowCommand(words.dropFirst()).run()
            case "inspect": return try await InspectCommand(words.dropFirst()).run()
            case "cache": return try await CacheCommand(words.dropFirst()).run()
            case "bench" where words.dropFirst().first == "disk-cache":
                return try await DiskCacheBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "memory-cache":
                return try MemoryCacheBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "response-cache":
                return try await ResponseCacheBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "download":
                return try await DownloadBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "pipeline":
                return try await PipelineBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "binding":
                return try await BindingBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "resize":
                return try ResizeBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "thumbnail":
                return try await ThumbnailBenchCommand(words.dropFirst(2)).run()
            case "bench" where words.dropFirst().first == "all":
                return try await AllBenchCommand(words.dropFirst(2)).run()
            case "bench": return try await BenchCommand(words.dropFirst()).run()
            case "--help", "-h", "help":
                Console.output(help)
                return .success
            case let word?: throw UsageError("there is no command '\(word)'")
            case nil: throw UsageError("a command is missing")
            }
        }
    }
}

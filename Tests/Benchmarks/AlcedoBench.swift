import Alcedo
import AlcedoProgramSupport
import FoundationEssentials

/// The benchmarks, each a command. What is measured beside a peer is measured in the same run, in turns.
@main
enum AlcedoBench {
    private static let help = """
        alcedo-bench measures Alcedo beside its peers.

        usage:
          alcedo-bench decode DIR [options]      our decoders against the same C libraries, as ratios
          alcedo-bench memory FILE [options]     what decoding an image adds to the process's memory
          alcedo-bench disk-cache [options]      puts and gets of the disk caches beside bare system calls
          alcedo-bench memory-cache [options]    hits, misses and puts of the memory caches; replays traces
          alcedo-bench response-cache [options]  fresh hits of the response cache
          alcedo-bench download [options]        downloads beside a C loop, URLSession and aiohttp
          alcedo-bench pipeline [options]        hits, equal requests and memory of the whole stack
          alcedo-bench binding [options]         what binding images to views takes of the main thread
          alcedo-bench resize [options]          the processors, beside Pillow
          alcedo-bench thumbnail [options]       thumbnails, beside Pillow and libvips
          alcedo-bench all [options]             all of them, and a report

        alcedo-bench COMMAND --help says more.

        It ends with 0, with 1 when something failed, with 2 when the command line makes no sense, with 130 after Ctrl-C,
        with 143 after SIGTERM and 129 after SIGHUP.

        """

    private static let program = CommandProgram(
        name: "alcedo-bench", help: help, version: AlcedoVersion.text,
        commands: [
            DecodeBenchCommand.self, MemoryBenchCommand.self, DiskCacheBenchCommand.self, MemoryCacheBenchCommand.self,
            ResponseCacheBenchCommand.self, DownloadBenchCommand.self, PipelineBenchCommand.self,
            BindingBenchCommand.self, ResizeBenchCommand.self, ThumbnailBenchCommand.self, AllBenchCommand.self,
        ])

    static func main() {
        EarlyInterruption.install("alcedo-bench: interrupted\n", isQuiet: false)
        ExitStatus.end(program.name) { try await program.run(CommandLine.arguments.dropFirst()) }
    }
}

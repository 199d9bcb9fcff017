import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo inspect`
struct InspectCommand {
    private static let help = """
        usage: alcedo inspect URL|FILE... [options]

        Says what images are, without decoding a pixel unless --pixels asks for it.

          --json     one JSON object a line, one for every argument, in order
          --pixels   decode every frame, and print the SHA-256 of its rows: straight RGBA of 8 bits, top row first, as
                     stored (no orientation, gamma or profile applied)

        """

    private var names: [String] = []
    private var isJSON = false
    private var decodesPixels = false
    private var showsHelp = false

    init(_ words: some Sequence<String>) throws {
        var arguments = Arguments(words)
        while let option = arguments.nextOption() {
            switch option {
            case "--json": isJSON = true
            case "--pixels": decodesPixels = true
            case "--help", "-h": showsHelp = true
            default: throw UsageError("inspect has no option '\(option)'")
            }
        }
        try arguments.finish()
        names = arguments.rest
        if names.contains(where: \.isEmpty) { throw UsageError("an argument is empty") }
        if names.isEmpty, !showsHelp { throw UsageError("inspect needs a file or a URL") }
    }

    func run() async throws -> ExitStatus {
        guard !showsHelp else {
            Console.output(Self.help)
            return .success
        }
        let configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        let inspector = Inspector(codecs: configuration.codecs, decodesPixels: decodesPixels)
        let decoding = BlockingExecutor(name: "alcedo.inspect", width: 1)
        var status = ExitStatus.success
        // One after another: a list of any length needs the memory of one image.
        for name in names {
            var report = ImageReport(path: name)
            do {
                let source = try ImageArgument(name).request.get().source
                let data = try await configuration.downloader.download(DownloadRequest(source), progress: nil).data
                let blank = report
                report = try await decoding.run { inspector.inspect(data, blank) }
            } catch {
                let isEmpty = (error as? DownloadError)?.code == .empty
                report.error = .init(code: isEmpty ? "empty" : "unreadable", message: "\(error)")
            }
            if report.error != nil { status = .failure }
            Console.output(isJSON ? try report.json + "\n" : report.text)
        }
        return status
    }
}

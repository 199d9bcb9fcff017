// swift-tools-version: 6.2
import PackageDescription

// Each public module is one library product, and every dependency between modules is declared here.
// Scripts/check-arrows compares the dependencies with the diagram in the article Modules.md.
//
// The package supports Linux with glibc on x86-64 and aarch64. LinuxNotes.md describes which tests run on Debian 12, on
// Debian 13, with Swift 6.2 and for aarch64. Musl is not tested.

/// GTK is a dependency only if the trait is enabled, so that other users do not need its headers.
let gtkLibrary = Target.Dependency.target(name: "CGTK", condition: .when(platforms: [.linux], traits: ["GTK"]))

/// The package traits of codecs, and the libraries that are dependencies only with them.
let traitCodecs: KeyValuePairs = [
    "AVIF": "CAVIF", "HEIF": "CDE265", "JXL": "CJXL", "SVG": "CSVG", "TIFF": "CTIFF",
]
/// The modules of these codecs.
let traitModules = traitCodecs.map { Target.Dependency(stringLiteral: "Alcedo\($0.key)") }

/// Returns a dependency on a target that exists only if a trait is enabled.
func dependency(on name: String, with trait: String) -> Target.Dependency {
    .target(name: name, condition: .when(traits: [trait]))
}

/// Every target of the package is built. Without the trait, C code that needs the library is therefore left out.
func define(_ trait: String) -> CSetting { .define("ALCEDO_\(trait)", .when(traits: [trait])) }

let package = Package(
    name: "Alcedo",
    products: [
        "Alcedo", "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoNSCache", "AlcedoDiskCache",
        "AlcedoSQLiteCache", "AlcedoRedisCache", "AlcedoURLResponseCache", "AlcedoDownloader", "AlcedoCURL",
        "AlcedoURLSession", "AlcedoCodecs", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP", "AlcedoAVIF",
        "AlcedoBMP", "AlcedoJXL", "AlcedoHEIF", "AlcedoSVG", "AlcedoTIFF", "AlcedoColor", "AlcedoProcessing",
        "AlcedoPlaceholders", "AlcedoSandbox", "AlcedoPipeline", "AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK",
        "AlcedoTesting",
    ].map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "alcedo", targets: ["AlcedoTool"]),
        .executable(name: "thumbnail-server", targets: ["thumbnail-server"]),
    ],
    traits: [
        .trait(name: "AVIF", description: "AVIF images; needs libavif-dev."),
        .trait(name: "GTK", description: "GTK 4 views; needs libgtk-4-dev."),
        .trait(name: "HEIF", description: "HEIF images, decoding only; needs libde265-dev."),
        .trait(name: "JXL", description: "JPEG XL images; needs libjxl-dev."),
        .trait(name: "SVG", description: "SVG images; needs librsvg2-dev."),
        .trait(name: "TIFF", description: "TIFF images; needs libtiff-dev."),
        .trait(name: "Sandbox", description: "Decoders in confined processes; needs libseccomp-dev."),
    ],
    targets: [
        // The C library, and utilities that are not specific to images: locks, executors, hashes and directories. Both
        // modules have no public declarations. The loop below adds both as dependencies of every other Swift target.
        .target(name: "AlcedoLibc", path: "Modules/Libc"),
        .target(
            name: "AlcedoRuntime", dependencies: ["CDigestShim", "CFileSystemShim"], path: "Modules/Runtime",
            exclude: ["CDigestShim", "CFileSystemShim"]),

        // HTTP messages, and the core types, which use them
        .target(name: "AlcedoHTTP", path: "Modules/HTTP"),
        .target(
            name: "AlcedoCore", dependencies: ["AlcedoHTTP"], path: "Modules/Core",
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),

        // Caches
        .target(name: "AlcedoMemoryCache", dependencies: ["AlcedoCore"], path: "Modules/MemoryCache/Bounded"),
        .target(
            name: "AlcedoNSCache", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/MemoryCache/NSCache"),
        .target(
            name: "AlcedoDiskCache", dependencies: ["AlcedoCore", "CXXHashShim"], path: "Modules/DiskCache/Files"),
        .target(
            name: "AlcedoSQLiteCache", dependencies: ["AlcedoCore", "CSQLite"], path: "Modules/DiskCache/SQLite"),
        .target(
            name: "AlcedoRedisCache", dependencies: ["AlcedoCore", "CHiredis"], path: "Modules/RedisCache/Redis"),
        .target(
            name: "AlcedoURLResponseCache", dependencies: ["AlcedoCore", "AlcedoHTTP"],
            path: "Modules/URLResponseCache",
            exclude: ["README.md"]),

        // Downloads
        .target(
            name: "AlcedoDownloader", dependencies: ["AlcedoCore", "AlcedoHTTP"],
            path: "Modules/Downloader/Downloader"),
        .target(
            name: "AlcedoCURL", dependencies: ["AlcedoCore", "AlcedoHTTP", "CCURLShim"], path: "Modules/Downloader/CURL"
        ),
        .target(
            name: "AlcedoURLSession", dependencies: ["AlcedoCore", "AlcedoHTTP"],
            path: "Modules/Downloader/URLSession"),

        // Codecs
        .target(
            name: "AlcedoCodecs", dependencies: ["AlcedoCore", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP"],
            path: "Modules/Codecs/All"),
        .target(name: "AlcedoPNG", dependencies: ["AlcedoCore", "CPNGShim"], path: "Modules/Codecs/PNG"),
        .target(name: "AlcedoJPEG", dependencies: ["AlcedoCore", "CJPEGShim"], path: "Modules/Codecs/JPEG"),
        .target(name: "AlcedoGIF", dependencies: ["AlcedoCore"], path: "Modules/Codecs/GIF"),
        .target(name: "AlcedoWebP", dependencies: ["AlcedoCore", "CWebP"], path: "Modules/Codecs/WebP"),
        .target(name: "AlcedoBMP", dependencies: ["AlcedoCore"], path: "Modules/Codecs/BMP"),
        // The boxes of AVIF, HEIF and JPEG XL files, without public declarations
        .target(name: "AlcedoBoxes", path: "Modules/Codecs/Boxes"),

        // Pixels, pipeline, views
        .target(
            name: "AlcedoColor", dependencies: ["AlcedoCore", "CLittleCMSShim"], path: "Modules/Color",
            exclude: ["CLittleCMS", "CLittleCMSShim"]),
        .target(
            name: "AlcedoProcessing", dependencies: ["AlcedoCore", "CSampleKernels"], path: "Modules/Processing",
            exclude: ["CSampleKernels", "README.md"]),
        .target(name: "AlcedoPlaceholders", dependencies: ["AlcedoCore"], path: "Modules/Placeholders"),
        .target(
            name: "AlcedoPipeline", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Pipeline",
            exclude: ["README.md"]),
        .target(
            name: "AlcedoViewBinding", dependencies: ["AlcedoCore", "AlcedoProcessing"], path: "Modules/ViewBinding",
            exclude: ["CGTK", "GTK", "README.md", "Terminal"], sources: ["Animation", "Binding"]),
        .target(
            name: "AlcedoTerminal", dependencies: ["AlcedoCore", "AlcedoViewBinding"],
            path: "Modules/ViewBinding/Terminal"),
        .target(
            name: "AlcedoGTK", dependencies: ["AlcedoCore", "AlcedoViewBinding", gtkLibrary],
            path: "Modules/ViewBinding/GTK", exclude: ["README.md"]),

        // Decoders in confined worker processes, with the trait Sandbox
        .target(
            name: "AlcedoSandbox", dependencies: ["AlcedoCore", "CSandboxShim"], path: "Modules/Sandbox",
            exclude: ["CSandboxShim", "CSeccomp"]),
        .target(
            name: "CSandboxShim", dependencies: [dependency(on: "CSeccomp", with: "Sandbox")],
            path: "Modules/Sandbox/CSandboxShim",
            cSettings: [.define("_GNU_SOURCE"), .define("ALCEDO_SANDBOX", .when(traits: ["Sandbox"]))],
            linkerSettings: [.linkedLibrary("seccomp", .when(traits: ["Sandbox"]))]),

        // Test support, and the umbrella module with the standard configuration
        .target(name: "AlcedoTesting", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Testing"),
        .target(
            name: "Alcedo",
            dependencies: [
                "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoDiskCache", "AlcedoURLResponseCache",
                "AlcedoDownloader", "AlcedoCURL", "AlcedoCodecs", "AlcedoColor", "AlcedoProcessing",
                "AlcedoPlaceholders", "AlcedoPipeline", "AlcedoViewBinding",
            ],
            path: "Modules/Standard"),

        // Programs
        .target(
            name: "AlcedoProgramSupport",
            dependencies: [
                "AlcedoBMP", "AlcedoCodecs", "AlcedoCore", "AlcedoProcessing", "AlcedoSandbox", "CStandardErrorShim",
            ] + traitModules,
            path: "Modules/ProgramSupport", exclude: ["CMalloc", "CStandardErrorShim"]),
        .target(name: "CStandardErrorShim", path: "Modules/ProgramSupport/CStandardErrorShim"),
        .systemLibrary(name: "CMalloc", path: "Modules/ProgramSupport/CMalloc"),
        .executableTarget(
            name: "AlcedoTool",
            dependencies: [
                "Alcedo", "AlcedoAVIF", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoJXL",
                "AlcedoPlaceholders", "AlcedoProgramSupport", "AlcedoSandbox", "AlcedoTIFF", "AlcedoTerminal",
            ],
            path: "Modules/CommandLine", exclude: ["Packaging", "README.md", "show.png"]),
        .executableTarget(
            name: "thumbnail-server",
            dependencies: [
                "Alcedo", "AlcedoAVIF", "AlcedoHTTP", "AlcedoJXL", "AlcedoProgramSupport", "AlcedoRedisCache",
                "AlcedoSandbox", "CHTTPServerShim", "CMalloc",
            ],
            path: "Modules/ThumbnailServer", exclude: ["CHTTPServerShim", "README.md"]),
        .target(name: "CHTTPServerShim", path: "Modules/ThumbnailServer/CHTTPServerShim"),

        // Examples: like another package, they use only products and have no package access. The gallery also uses two
        // system modules: CGTK, because Swift has none for GTK, and a module of its own for mallopt.
        .executableTarget(
            name: "quickstart", dependencies: ["Alcedo", "AlcedoTesting"],
            path: "Examples/Quickstart", exclude: ["README.md", "contact-sheet.png", "make-pictures"],
            resources: [.copy("Pictures")],
            packageAccess: false),
        .executableTarget(
            name: "upload-to-thumbnail", dependencies: ["Alcedo"], path: "Examples/UploadToThumbnail",
            exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "swap-backends", dependencies: ["Alcedo", "AlcedoHTTP", "AlcedoSQLiteCache", "AlcedoTesting"],
            path: "Examples/SwapBackends", exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "custom-codec", dependencies: ["Alcedo", "AlcedoCore"], path: "Examples/CustomCodec",
            exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "custom-backend", dependencies: ["Alcedo", "AlcedoCore", "AlcedoTesting"],
            path: "Examples/CustomBackend", exclude: ["README.md"], packageAccess: false),
        .executableTarget(
            name: "http-cache-client",
            dependencies: ["AlcedoCURL", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoURLResponseCache"],
            path: "Examples/HTTPCacheClient", exclude: ["README.md"], packageAccess: false),
        // Without the trait, the program only prints how to enable it.
        .executableTarget(
            name: "gallery",
            dependencies: ["Alcedo", "AlcedoGTK", "AlcedoHTTP", "AlcedoTesting", "CMallocOptions", gtkLibrary],
            path: "Examples/Gallery", exclude: ["CMallocOptions", "README.md", "gallery.png", "gtk-window-test"],
            packageAccess: false),
        .systemLibrary(name: "CMallocOptions", path: "Examples/Gallery/CMallocOptions"),

        // C: the shims of this package, and system libraries
        .target(
            name: "CPNGShim", dependencies: ["CDeflate", "CPNG"], path: "Modules/Codecs/CPNGShim",
            // libpng depends on zlib, so zlib is always installed with it.
            linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CJPEGShim", dependencies: ["CJPEG"], path: "Modules/Codecs/CJPEGShim"),
        .target(name: "CLittleCMSShim", dependencies: ["CLittleCMS"], path: "Modules/Color/CLittleCMSShim"),
        .target(name: "CSampleKernels", path: "Modules/Processing/CSampleKernels"),
        .target(name: "CDigestShim", path: "Modules/Runtime/CDigestShim"),
        .target(name: "CFileSystemShim", path: "Modules/Runtime/CFileSystemShim"),
        .target(name: "CXXHashShim", path: "Modules/DiskCache/CXXHashShim"),
        .target(name: "CCURLShim", dependencies: ["CCURL"], path: "Modules/Downloader/CCURLShim"),
    ]
)

package.targets += traitCodecs.flatMap { trait, library -> [Target] in
    [
        .target(
            name: "Alcedo\(trait)",
            dependencies: ["AlcedoCore", dependency(on: "C\(trait)Shim", with: trait)]
                + (["SVG", "TIFF"].contains(trait) ? [] : ["AlcedoBoxes"]),
            path: "Modules/Codecs/\(trait)"),
        .target(
            name: "C\(trait)Shim", dependencies: [dependency(on: library, with: trait)],
            path: "Modules/Codecs/C\(trait)Shim", cSettings: [define(trait)],
            cxxSettings: [.define("ALCEDO_\(trait)", .when(traits: [trait]))]),
    ]
}

// The system libraries, with their packages of Debian, Fedora and Homebrew. Some have no pkgConfig, because the
// library's pkg-config file is missing or has a flag that SwiftPM rejects. Only benchmarks use CGIF and CHEIF.
let libraries: [(name: String, directory: String, pkgConfig: String?, apt: String, yum: String, brew: String?)] = [
    ("CPNG", "Modules/Codecs", "libpng", "libpng-dev", "libpng-devel", "libpng"),
    ("CDeflate", "Modules/Codecs", "libdeflate", "libdeflate-dev", "libdeflate-devel", "libdeflate"),
    ("CJPEG", "Modules/Codecs", "libjpeg", "libjpeg-dev", "libjpeg-turbo-devel", "jpeg-turbo"),
    ("CGIF", "Tests/Benchmarks", nil, "libgif-dev", "giflib-devel", "giflib"),
    ("CWebP", "Modules/Codecs", "libwebp", "libwebp-dev", "libwebp-devel", "webp"),
    ("CAVIF", "Modules/Codecs", nil, "libavif-dev", "libavif-devel", "libavif"),
    ("CHEIF", "Tests/Benchmarks", nil, "libheif-dev", "libheif-devel", "libheif"),
    ("CDE265", "Modules/Codecs", "libde265", "libde265-dev", "libde265-devel", "libde265"),
    ("CJXL", "Modules/Codecs", nil, "libjxl-dev", "libjxl-devel", "jpeg-xl"),
    ("CSVG", "Modules/Codecs", "librsvg-2.0", "librsvg2-dev", "librsvg2-devel", "librsvg"),
    ("CTIFF", "Modules/Codecs", nil, "libtiff-dev", "libtiff-devel", "libtiff"),
    ("CLittleCMS", "Modules/Color", "lcms2", "liblcms2-dev", "lcms2-devel", "little-cms2"),
    ("CCURL", "Modules/Downloader", "libcurl", "libcurl4-openssl-dev", "libcurl-devel", "curl"),
    ("CHiredis", "Modules/RedisCache", nil, "libhiredis-dev", "hiredis-devel", "hiredis"),
    ("CSQLite", "Modules/DiskCache", "sqlite3", "libsqlite3-dev", "sqlite-devel", "sqlite"),
    ("CGTK", "Modules/ViewBinding", "gtk4", "libgtk-4-dev", "gtk4-devel", "gtk4"),
    ("CSeccomp", "Modules/Sandbox", "libseccomp", "libseccomp-dev", "libseccomp-devel", nil),
]
package.targets += libraries.map { name, directory, pkgConfig, apt, yum, brew in
    .systemLibrary(
        name: name, path: "\(directory)/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([apt]), .yum([yum])] + (brew.map { [.brew([$0])] } ?? []))
}

// Each module has one test target, in a directory with the module's short name. The values are further dependencies.
let tests: KeyValuePairs<String, [Target.Dependency]> = [
    "AVIF": [], "BMP": ["AlcedoPNG"], "Boxes": [], "CURL": ["AlcedoDownloader", "CCURL"],
    "Color": ["AlcedoCodecs", "AlcedoPipeline"],
    "Core": [],
    "DiskCache": ["CFileSystemShim", "CXXHashShim"],
    "Downloader": ["AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoURLResponseCache"],
    "GIF": [], "GTK": ["AlcedoViewBinding", "gallery", gtkLibrary], "HEIF": [], "HTTP": [], "JPEG": ["CJPEG"],
    "JXL": ["AlcedoJPEG"], "MemoryCache": [], "NSCache": [],
    "Pipeline": [
        "AlcedoCodecs", "AlcedoDiskCache", "AlcedoDownloader", "AlcedoMemoryCache", "AlcedoNSCache", "AlcedoProcessing",
        "AlcedoRedisCache", "AlcedoSQLiteCache", "AlcedoURLResponseCache",
    ],
    "PNG": ["AlcedoJPEG"], "Placeholders": ["AlcedoViewBinding"], "Processing": ["AlcedoPNG"], "RedisCache": [],
    "Runtime": [], "SQLiteCache": [], "SVG": ["CSVGShim"], "TIFF": [],
    "Terminal": ["AlcedoViewBinding"],
    "Testing": ["AlcedoCURL", "AlcedoDownloader"],
    "URLResponseCache": ["AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache"], "URLSession": [],
    "ViewBinding": ["AlcedoProcessing"],
    "WebP": ["CWebP"],
]
let testsWithFixtures: Set = ["CURL", "GIF", "HEIF", "JPEG", "PNG", "Processing", "TIFF", "Terminal", "WebP"]
for (name, needs) in tests {
    let modules: Set = ["AlcedoHTTP", "AlcedoCore", "AlcedoTesting", "TestSupport", "Alcedo\(name)"]
    package.targets.append(
        .testTarget(
            name: "Alcedo\(name)Tests",
            dependencies: modules.subtracting(["AlcedoRuntime"]).sorted().map { .init(stringLiteral: $0) } + needs,
            path: "Tests/\(name)", exclude: name == "Processing" ? ["Golden"] : [],
            resources: testsWithFixtures.contains(name) ? [.copy("Fixtures")] : []))
}

package.targets += [
    .executableTarget(
        name: "alcedo-bench",
        dependencies: [
            "Alcedo", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoProgramSupport",
            "AlcedoSQLiteCache", "AlcedoSandbox", "AlcedoTesting", "AlcedoURLResponseCache", "CMultiLoop",
            "CProcessRun", "CReferenceDecoders",
        ] + traitModules,
        path: "Tests/Benchmarks",
        exclude: [
            "CGIF", "CHEIF", "CMultiLoop", "CProcessRun", "CReferenceDecoders", "bench-peers", "bench-pictures",
            "bench-server", "bench-stages", "compare-attention", "report.md", "report.svg", "thresholds.txt",
        ]),
    .target(name: "CProcessRun", path: "Tests/Benchmarks/CProcessRun"),
    .target(name: "CMultiLoop", dependencies: ["CCURL"], path: "Tests/Benchmarks/CMultiLoop"),
    .target(
        name: "CReferenceDecoders",
        dependencies: ["CPNG", "CJPEG", "CGIF", "CWebP", dependency(on: "CHEIF", with: "HEIF")]
            + traitCodecs.filter { $0.key != "HEIF" }.map { dependency(on: $0.value, with: $0.key) },
        path: "Tests/Benchmarks/CReferenceDecoders", cSettings: traitCodecs.map { define($0.key) },
        linkerSettings: [.linkedLibrary("gif"), .linkedLibrary("heif", .when(traits: ["HEIF"]))]),
    .executableTarget(
        name: "conformance",
        dependencies: ["Alcedo", "AlcedoCodecs", "AlcedoColor", "AlcedoCore", "AlcedoProgramSupport", "AlcedoTesting"]
            + traitModules,
        path: "Tests/Conformance"),
    // The processes of a long run with a hostile origin and a full disk.
    .executableTarget(
        name: "mixed-run",
        dependencies: [
            "Alcedo", "AlcedoBMP", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoTesting",
            "AlcedoURLResponseCache", "CMalloc",
        ],
        path: "Tests/MixedRun", exclude: ["run"]),
    // A test target, although it has no tests: `swift build` with a static standard library has no module Testing.
    .testTarget(name: "TestSupport", dependencies: ["AlcedoCore", "AlcedoTesting"], path: "Tests/Support"),
    .testTarget(
        name: "AlcedoTests",
        dependencies: [
            "Alcedo", "AlcedoAVIF", "AlcedoBMP", "AlcedoJXL", "AlcedoProgramSupport", "AlcedoTIFF", "AlcedoTesting",
            "TestSupport",
        ],
        path: "Tests/Standard"),
    // With the trait Sandbox: the tests, and the program with hostile decoders that runs as their worker.
    .testTarget(
        name: "AlcedoSandboxTests",
        dependencies: [
            "AlcedoCodecs", "AlcedoCore", "AlcedoSandbox", "AlcedoTesting", "CSandboxShim", "TestSupport",
            "sandbox-test-worker",
        ],
        path: "Tests/Sandbox", exclude: ["Worker"]),
    .executableTarget(
        name: "sandbox-test-worker", dependencies: ["AlcedoCodecs", "AlcedoCore", "AlcedoSandbox", "CSandboxShim"],
        path: "Tests/Sandbox/Worker"),
    // Tests without package access, in which `import Alcedo` must suffice, as for users of the package.
    .testTarget(
        name: "AlcedoCallSiteTests", dependencies: ["Alcedo", "AlcedoTesting"], path: "Tests/CallSites",
        packageAccess: false),
    // Parts of another package, also without package access. They use only public declarations, and pass the
    // conformance kits.
    .testTarget(
        name: "AlcedoPlugInsTests",
        dependencies: ["Alcedo", "AlcedoCURL", "AlcedoCore", "AlcedoHTTP", "AlcedoTesting", "AlcedoURLResponseCache"],
        path: "Tests/PlugIns", packageAccess: false),
    .testTarget(
        name: "AlcedoCollisionTests", dependencies: ["Alcedo", "Crypto", "HTTPTypes", "SwiftCrossUI"],
        path: "Tests/Collisions/Importing", packageAccess: false),
    // Stand-ins for other packages. They are test targets, so that they are not visible to dependent packages.
    .testTarget(name: "Crypto", path: "Tests/Collisions/Crypto"),
    .testTarget(name: "HTTPTypes", path: "Tests/Collisions/HTTPTypes"),
    .testTarget(name: "SwiftCrossUI", path: "Tests/Collisions/SwiftCrossUI"),
    .testTarget(
        name: "AlcedoURLResponseCacheFaultTests",
        dependencies: [
            "AlcedoCore", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoSQLiteCache", "AlcedoTesting",
            "AlcedoURLResponseCache", "TestSupport",
        ],
        path: "Tests/URLResponseCacheFaults"),
    .testTarget(
        name: "ReadmeTests", dependencies: ["Alcedo", "AlcedoCodecs", "AlcedoCore", "AlcedoTesting"],
        path: "Tests/Readme", packageAccess: false),
    .testTarget(
        name: "HTTPCacheClientTests",
        dependencies: ["AlcedoCore", "AlcedoTesting", "TestSupport", "http-cache-client"],
        path: "Tests/HTTPCacheClient"),
    .testTarget(
        name: "ThumbnailServerTests",
        dependencies: [
            "Alcedo", "AlcedoRedisCache", "AlcedoTesting", "AlcedoProgramSupport", "TestSupport", "thumbnail-server",
        ],
        path: "Tests/ThumbnailServer"),
    .testTarget(
        name: "ToolTests",
        dependencies: [
            "Alcedo", "AlcedoPlaceholders", "AlcedoProgramSupport", "AlcedoSandbox", "AlcedoTesting", "AlcedoTool",
            "CReferenceDecoders", "TestSupport", "alcedo-bench", "conformance", "thumbnail-server",
        ],
        path: "Tests/Tool", exclude: ["Fixtures"]),
    .testTarget(
        name: "ExampleTests",
        dependencies: [
            "Alcedo", "AlcedoHTTP", "AlcedoTesting", "TestSupport", "custom-backend", "custom-codec", "quickstart",
            "swap-backends", "upload-to-thumbnail",
        ],
        path: "Tests/Examples"),
]

/// The names of C targets begin with C and another capital letter.
let cTargets = Set(
    package.targets.map(\.name).filter { $0.first == "C" && $0.dropFirst().first?.isUppercase == true })
// Whether warnings are errors. Scripts/check sets this variable. For dependent packages, warnings are never errors: a
// newer compiler may emit new warnings, and SwiftPM passes -suppress-warnings, which swiftc does not accept with this
// setting.
let warningsAreErrors = Context.environment["ALCEDO_WARNINGS_AS_ERRORS"] != nil
for target in package.targets where [.regular, .test, .executable].contains(target.type) {
    if cTargets.contains(target.name) {
        if warningsAreErrors { target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error)] }
        continue
    }
    if target.name != "AlcedoLibc", target.packageAccess {
        target.dependencies.append("AlcedoLibc")
        if target.name != "AlcedoRuntime" { target.dependencies.append("AlcedoRuntime") }
    }
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
        ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])
}

// For Scripts/coverage. Swift 6.3 crashes when it adds coverage counters to an isolated deinitializer, so the modules
// with such deinitializers are not counted.
let uncounted: Set = ["AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK"]
if Context.environment["ALCEDO_COVERAGE"] != nil {
    for target in package.targets where target.type == .regular {
        guard target.path?.hasPrefix("Modules/") == true, !uncounted.contains(target.name) else { continue }
        if cTargets.contains(target.name) {
            let flags = ["-fprofile-instr-generate", "-fcoverage-mapping"]
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(flags)]
        } else {
            target.swiftSettings?.append(.unsafeFlags(["-profile-generate", "-profile-coverage-mapping"]))
        }
    }
}

// For the optimized tests of Scripts/check. Swift 6.3 crashes while it optimizes some tests, so only the modules under
// test are optimized.
if Context.environment["ALCEDO_PLAIN_TESTS"] != nil {
    for target in package.targets where target.type == .test {
        target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
    }
}

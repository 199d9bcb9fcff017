// swift-tools-version: 6.2
import PackageDescription

// Each public module is one library product, and every dependency between modules is declared here.
// Scripts/check-arrows compares the dependencies with the diagram in the article Architecture.md.
//
// The package supports Linux with glibc on x86-64 and aarch64. LinuxNotes.md describes which tests run on Debian 12, on
// Debian 13, with Swift 6.2 and for aarch64. Musl is not tested.

/// GTK is a dependency only if the trait is enabled, so that other users do not need its headers.
let gtkLibrary = Target.Dependency.target(name: "CGTK", condition: .when(platforms: [.linux], traits: ["GTK"]))

let package = Package(
    name: "Alcedo",
    products: [
        "Alcedo", "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoNSCache", "AlcedoDiskCache",
        "AlcedoSQLiteCache", "AlcedoRedisCache", "AlcedoURLResponseCache", "AlcedoDownloader", "AlcedoCURL",
        "AlcedoURLSession", "AlcedoCodecs", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP", "AlcedoProcessing",
        "AlcedoPipeline", "AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK", "AlcedoTesting",
    ].map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "alcedo", targets: ["AlcedoTool"]),
        .executable(name: "thumbnail-server", targets: ["thumbnail-server"]),
    ],
    traits: [
        .trait(name: "GTK", description: "GTK 4 views; needs libgtk-4-dev."),
        .default(enabledTraits: []),
    ],
    targets: [
        // The C library, and utilities that are not specific to images: locks, executors, hashes and directories. Both
        // modules have no public declarations. The loop below adds both as dependencies of every other Swift target.
        .target(name: "AlcedoLibc", path: "Modules/Libc"),
        .target(
            name: "AlcedoRuntime", dependencies: ["CFileSystemShim"], path: "Modules/Runtime",
            exclude: ["CFileSystemShim"]),

        // HTTP messages, and the core types, which use them
        .target(name: "AlcedoHTTP", path: "Modules/HTTP"),
        .target(
            name: "AlcedoCore", dependencies: ["AlcedoHTTP"], path: "Modules/Core",
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),

        // Caches
        .target(name: "AlcedoMemoryCache", dependencies: ["AlcedoCore"], path: "Modules/MemoryCache/Bounded"),
        .target(
            name: "AlcedoNSCache", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/MemoryCache/NSCache"),
        .target(name: "AlcedoDiskCache", dependencies: ["AlcedoCore"], path: "Modules/DiskCache/Files"),
        .target(
            name: "AlcedoSQLiteCache", dependencies: ["AlcedoCore", "CSQLite"],
            path: "Modules/DiskCache/SQLite"),
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
            name: "AlcedoCodecs",
            dependencies: ["AlcedoCore", "AlcedoPNG", "AlcedoJPEG", "AlcedoGIF", "AlcedoWebP"],
            path: "Modules/Codecs/All"),
        .target(name: "AlcedoPNG", dependencies: ["AlcedoCore", "CPNGShim"], path: "Modules/Codecs/PNG"),
        .target(name: "AlcedoJPEG", dependencies: ["AlcedoCore", "CJPEGShim"], path: "Modules/Codecs/JPEG"),
        .target(name: "AlcedoGIF", dependencies: ["AlcedoCore", "CGIFShim"], path: "Modules/Codecs/GIF"),
        .target(name: "AlcedoWebP", dependencies: ["AlcedoCore", "CWebP"], path: "Modules/Codecs/WebP"),

        // Pixels, pipeline, views
        .target(
            name: "AlcedoProcessing", dependencies: ["AlcedoCore", "CSampleKernels"], path: "Modules/Processing",
            exclude: ["CSampleKernels", "README.md"]),
        .target(
            name: "AlcedoPipeline", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Pipeline",
            exclude: ["README.md"]),
        .target(
            name: "AlcedoViewBinding", dependencies: ["AlcedoCore"], path: "Modules/ViewBinding",
            exclude: ["CGTK", "GTK", "README.md", "Terminal"], sources: ["Animation", "Binding"]),
        .target(
            name: "AlcedoTerminal", dependencies: ["AlcedoCore", "AlcedoViewBinding"],
            path: "Modules/ViewBinding/Terminal"),
        .target(
            name: "AlcedoGTK",
            dependencies: ["AlcedoCore", "AlcedoViewBinding", gtkLibrary],
            path: "Modules/ViewBinding/GTK", exclude: ["README.md"]),

        // Test support, and the umbrella module with the standard configuration
        .target(name: "AlcedoTesting", dependencies: ["AlcedoCore", "AlcedoHTTP"], path: "Modules/Testing"),
        .target(
            name: "Alcedo",
            dependencies: [
                "AlcedoCore", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoDiskCache", "AlcedoURLResponseCache",
                "AlcedoDownloader", "AlcedoCURL", "AlcedoCodecs", "AlcedoProcessing", "AlcedoPipeline",
                "AlcedoViewBinding",
            ],
            path: "Modules/Standard"),

        // Programs
        .target(name: "AlcedoProgramSupport", path: "Modules/ProgramSupport", exclude: ["CMalloc"]),
        .systemLibrary(name: "CMalloc", path: "Modules/ProgramSupport/CMalloc"),
        .executableTarget(
            name: "AlcedoTool",
            dependencies: [
                "Alcedo", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoProgramSupport", "AlcedoTerminal",
            ],
            path: "Modules/CommandLine", exclude: ["README.md", "show.png"]),
        .executableTarget(
            name: "thumbnail-server",
            dependencies: [
                "Alcedo", "AlcedoHTTP", "AlcedoProgramSupport", "AlcedoRedisCache", "CHTTPServerShim", "CMalloc",
            ],
            path: "Modules/ThumbnailServer", exclude: ["CHTTPServerShim", "CMicroHTTPD", "README.md"]),
        .target(
            name: "CHTTPServerShim", dependencies: ["CMicroHTTPD"], path: "Modules/ThumbnailServer/CHTTPServerShim",
            // The library is linked here, because no Swift module imports it.
            linkerSettings: [.linkedLibrary("microhttpd")]),
        .systemLibrary(
            name: "CMicroHTTPD", path: "Modules/ThumbnailServer/CMicroHTTPD",
            providers: [.apt(["libmicrohttpd-dev"]), .yum(["libmicrohttpd-devel"]), .brew(["libmicrohttpd"])]),

        // Examples: like another package, they use only products and have no package access. The gallery also uses two
        // system modules: CGTK, because Swift has none for GTK, and a module of its own for mallopt.
        .executableTarget(
            name: "quickstart", dependencies: ["Alcedo", "AlcedoTesting"],
            path: "Examples/Quickstart", exclude: ["README.md", "contact-sheet.png"], resources: [.copy("Pictures")],
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
            path: "Examples/Gallery", exclude: ["CMallocOptions", "README.md", "gallery.png"], packageAccess: false),
        .systemLibrary(name: "CMallocOptions", path: "Examples/Gallery/CMallocOptions"),

        // C: the shims of this package, and system libraries
        .target(
            name: "CPNGShim", dependencies: ["CPNG"], path: "Modules/Codecs/CPNGShim",
            // libpng depends on zlib, so zlib is always installed with it.
            linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CJPEGShim", dependencies: ["CJPEG"], path: "Modules/Codecs/CJPEGShim"),
        .target(name: "CGIFShim", dependencies: ["CGIF"], path: "Modules/Codecs/CGIFShim"),
        .target(name: "CSampleKernels", path: "Modules/Processing/CSampleKernels"),
        .target(name: "CFileSystemShim", path: "Modules/Runtime/CFileSystemShim"),
        .target(name: "CCURLShim", dependencies: ["CCURL"], path: "Modules/Downloader/CCURLShim"),
        .systemLibrary(
            name: "CPNG", path: "Modules/Codecs/CPNG", pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"]), .yum(["libpng-devel"]), .brew(["libpng"])]),
        .systemLibrary(
            name: "CJPEG", path: "Modules/Codecs/CJPEG", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg-dev"]), .yum(["libjpeg-turbo-devel"]), .brew(["jpeg-turbo"])]),
        .systemLibrary(
            name: "CGIF", path: "Modules/Codecs/CGIF",
            providers: [.apt(["libgif-dev"]), .yum(["giflib-devel"]), .brew(["giflib"])]),
        .systemLibrary(
            name: "CWebP", path: "Modules/Codecs/CWebP", pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"]), .yum(["libwebp-devel"]), .brew(["webp"])]),
        .systemLibrary(
            name: "CCURL", path: "Modules/Downloader/CCURL", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .yum(["libcurl-devel"]), .brew(["curl"])]),
        // No pkgConfig, because the library's pkg-config file has a flag that SwiftPM rejects.
        .systemLibrary(
            name: "CHiredis", path: "Modules/RedisCache/CHiredis",
            providers: [.apt(["libhiredis-dev"]), .yum(["hiredis-devel"]), .brew(["hiredis"])]),
        .systemLibrary(
            name: "CSQLite", path: "Modules/DiskCache/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CGTK", path: "Modules/ViewBinding/CGTK", pkgConfig: "gtk4",
            providers: [.apt(["libgtk-4-dev"]), .yum(["gtk4-devel"]), .brew(["gtk4"])]),
    ]
)

// Each module has one test target, in a directory with the module's short name.
let tests: [(name: String, needs: [Target.Dependency], hasFixtures: Bool)] = [
    ("CURL", ["AlcedoTesting", "TestSupport", "CCURL"], false),
    ("Core", ["AlcedoTesting", "TestSupport"], false),
    ("DiskCache", ["AlcedoTesting", "CFileSystemShim", "TestSupport"], false),
    (
        "Downloader",
        [
            "AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoTesting", "AlcedoURLResponseCache",
            "TestSupport",
        ], false
    ),
    ("GIF", ["AlcedoTesting", "TestSupport"], true),
    ("GTK", ["AlcedoViewBinding", "gallery", "TestSupport", gtkLibrary], false),
    ("HTTP", ["AlcedoTesting", "TestSupport"], false),
    ("JPEG", ["AlcedoTesting", "TestSupport"], true),
    ("MemoryCache", ["AlcedoTesting", "TestSupport"], false),
    ("NSCache", ["AlcedoTesting", "TestSupport"], false),
    (
        "Pipeline",
        [
            "AlcedoCodecs", "AlcedoDiskCache", "AlcedoDownloader", "AlcedoMemoryCache", "AlcedoNSCache",
            "AlcedoRedisCache", "AlcedoSQLiteCache", "AlcedoTesting", "TestSupport",
        ], false
    ),
    ("PNG", ["AlcedoJPEG", "AlcedoTesting", "TestSupport"], true),
    ("Processing", ["AlcedoPNG", "AlcedoTesting", "TestSupport"], true),
    ("RedisCache", ["AlcedoTesting", "TestSupport"], false),
    ("Runtime", ["AlcedoTesting", "TestSupport"], false),
    ("SQLiteCache", ["AlcedoTesting", "TestSupport"], false),
    ("Terminal", ["AlcedoTesting", "AlcedoViewBinding", "TestSupport"], true),
    ("Testing", ["AlcedoCURL", "TestSupport"], false),
    (
        "URLResponseCache",
        ["AlcedoCURL", "AlcedoDiskCache", "AlcedoMemoryCache", "AlcedoTesting", "TestSupport"], false
    ),
    ("URLSession", ["AlcedoTesting", "TestSupport"], false),
    ("ViewBinding", ["AlcedoTesting", "TestSupport"], false),
    ("WebP", ["AlcedoTesting", "CWebP", "TestSupport"], true),
]
for test in tests {
    package.targets.append(
        .testTarget(
            name: "Alcedo\(test.name)Tests",
            dependencies: (["Core", "HTTP"].contains(test.name) ? [] : ["AlcedoHTTP"])
                + (test.name == "Core" ? ["AlcedoHTTP"] : ["AlcedoCore"])
                + (test.name == "Runtime" ? [] : [.init(stringLiteral: "Alcedo\(test.name)")]) + test.needs,
            path: "Tests/\(test.name)",
            exclude: test.name == "Processing" ? ["Golden"] : [],
            resources: test.hasFixtures ? [.copy("Fixtures")] : []))
}

package.targets += [
    .executableTarget(
        name: "alcedo-bench",
        dependencies: [
            "Alcedo", "AlcedoCore", "AlcedoDiskCache", "AlcedoHTTP", "AlcedoMemoryCache", "AlcedoProgramSupport",
            "AlcedoSQLiteCache",
            "AlcedoTesting", "AlcedoURLResponseCache", "CMultiLoop", "CReferenceDecoders",
        ],
        path: "Tests/Benchmarks", exclude: ["CMultiLoop", "CReferenceDecoders", "report.md", "report.svg"]),
    .target(name: "CMultiLoop", dependencies: ["CCURL"], path: "Tests/Benchmarks/CMultiLoop"),
    .target(
        name: "CReferenceDecoders", dependencies: ["CPNG", "CJPEG", "CGIF", "CWebP"],
        path: "Tests/Benchmarks/CReferenceDecoders"),
    .executableTarget(
        name: "conformance", dependencies: ["AlcedoCore", "AlcedoCodecs", "AlcedoTesting"], path: "Tests/Conformance"),
    .target(name: "TestSupport", dependencies: ["AlcedoCore", "AlcedoTesting"], path: "Tests/Support"),
    .testTarget(
        name: "AlcedoTests", dependencies: ["Alcedo", "AlcedoTesting", "TestSupport"], path: "Tests/Standard"),
    // Tests without package access, in which `import Alcedo` must suffice, as for users of the package.
    .testTarget(
        name: "AlcedoCallSiteTests", dependencies: ["Alcedo", "AlcedoTesting"], path: "Tests/CallSites",
        packageAccess: false),
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
        name: "ReadmeTests",
        dependencies: ["Alcedo", "AlcedoCodecs", "AlcedoCore", "AlcedoTesting"], path: "Tests/Readme",
        packageAccess: false),
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
            "Alcedo", "AlcedoProgramSupport", "AlcedoTesting", "AlcedoTool", "CReferenceDecoders", "TestSupport",
            "alcedo-bench",
        ],
        path: "Tests/Tool",
        exclude: ["Fixtures"]),
    .testTarget(
        name: "ExampleTests",
        dependencies: [
            "Alcedo", "AlcedoHTTP", "AlcedoTesting", "TestSupport", "custom-backend", "custom-codec", "quickstart",
            "swap-backends", "upload-to-thumbnail",
        ],
        path: "Tests/Examples"),
]

let cTargets: Set = [
    "CFileSystemShim", "CHTTPServerShim", "CPNGShim", "CJPEGShim", "CGIFShim", "CCURLShim", "CMultiLoop",
    "CReferenceDecoders", "CSampleKernels",
]
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
            .swiftLanguageMode(.v6),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])
}

// For Scripts/coverage. Swift 6.3 crashes when it adds coverage counters to an isolated deinitializer, so the modules
// with such deinitializers are not counted.
let uncounted: Set = ["AlcedoViewBinding", "AlcedoTerminal", "AlcedoGTK"]
if Context.environment["ALCEDO_COVERAGE"] != nil {
    for target in package.targets where target.type == .regular {
        guard target.path?.hasPrefix("Modules/") == true, !uncounted.contains(target.name) else { continue }
        if cTargets.contains(target.name) {
            target.cSettings =
                (target.cSettings ?? []) + [
                    .unsafeFlags(["-fprofile-instr-generate", "-fcoverage-mapping"])
                ]
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

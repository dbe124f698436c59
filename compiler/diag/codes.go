package diag

import (
	"maps"
	"slices"

	"github.com/accessc/accessc/internal/process/once"
)

// Code is the stable identifier of a kind of finding. A code is never reused.
type Code string

// The codes. docs/checks.md shows a failing example of each; golden/fixed.txt has it repaired where that page does not.
const (
	BadTOML         Code = "ACC001"
	Unreadable      Code = "ACC002"
	NotText         Code = "ACC003"
	ExtendsCycle    Code = "ACC004"
	ExtendsNothing  Code = "ACC005"
	TwoSpellings    Code = "ACC006"
	WrongType       Code = "ACC007"
	BadToolName     Code = "ACC008"
	BadSet          Code = "ACC009"
	LayerLeaves     Code = "ACC010"
	ExtendsTooMuch  Code = "ACC011"
	MissingField    Code = "ACC012"
	BadValue        Code = "ACC013"
	UnknownKey      Code = "ACC014"
	ReplaceEmpty    Code = "ACC015"
	DedupChanges    Code = "ACC016"
	NearlyAccess    Code = "ACC017"
	EmptyList       Code = "ACC018"
	LayerDangles    Code = "ACC019"
	AccessOnDefault Code = "ACC020"
	AccessNotLocal  Code = "ACC021"
	AccessNoSource  Code = "ACC022"
	BadSource       Code = "ACC023"
	BadCommand      Code = "ACC024"
	Widens          Code = "ACC025"
	OptionLike      Code = "ACC026"
	UnknownPreset   Code = "ACC027"
	AbsolutePath    Code = "ACC030"
	PathLeaves      Code = "ACC031"
	PathOutside     Code = "ACC032"
	ExternalInside  Code = "ACC033"
	NotApproved     Code = "ACC034"
	BrokenLink      Code = "ACC035"
	Retargeted      Code = "ACC036"
	BadPath         Code = "ACC037"
	PathLoop        Code = "ACC038"
	FoldCollision   Code = "ACC039"
	GlobInPath      Code = "ACC040"
	ExecuteNoRead   Code = "ACC041"
	TargetsOverlap  Code = "ACC042"
	SensitiveReach  Code = "ACC043"
	Unprotected     Code = "ACC044"
	HomePath        Code = "ACC045"
	UnfitTarget     Code = "ACC046"
	LinkedWide      Code = "ACC047"
	LinkedRule      Code = "ACC048"
	BadMay          Code = "ACC049"
	BadHost         Code = "ACC050"
	BadNetField     Code = "ACC051"
	NetUnseen       Code = "ACC052"
	NetOnlyWeb      Code = "ACC053"
	CredentialLayer Code = "ACC054"
	BadEnvName      Code = "ACC055"
	LoaderVariable  Code = "ACC056"
	OrderDecides    Code = "ACC060"
	TakesNothing    Code = "ACC061"
	NothingThere    Code = "ACC062"
	BadNames        Code = "ACC063"
	BadProgram      Code = "ACC065"
	BadArgs         Code = "ACC066"
	ProgramMissing  Code = "ACC067"
	SameProgram     Code = "ACC068"
	OwnProgram      Code = "ACC069"
	BadLimit        Code = "ACC070"
	UnknownAccept   Code = "ACC071"
	BadTest         Code = "ACC072"
	TestFailed      Code = "ACC073"
	BadConstraint   Code = "ACC074"
	TooManyRules    Code = "ACC080"
	Inexpressible   Code = "ACC081"
	LocalTracked    Code = "ACC082"
	Altered         Code = "ACC083"
	BadApprovals    Code = "ACC085"
	NotWorkspace    Code = "ACC086"
	BadSigner       Code = "ACC087"
	OpenSigners     Code = "ACC088"
	OpenKey         Code = "ACC089"
	BadRule         Code = "ACC090"
	ExampleFails    Code = "ACC091"
	IdleRule        Code = "ACC092"
	BroadRule       Code = "ACC093"
	AboveMaximum    Code = "ACC094"
	BadMaximum      Code = "ACC095"
	AboveParent     Code = "ACC096"
)

type entry struct {
	severity Severity
	title    string
}

// registry is made when it is first used: every start of a tool initialises this package.
func registry() map[Code]entry {
	return registryOnce.Get(func() map[Code]entry {
		return map[Code]entry{
			BadTOML:         {Error, "malformed TOML"},
			Unreadable:      {Error, "a layer cannot be read"},
			NotText:         {Error, "a layer is not UTF-8 text"},
			ExtendsCycle:    {Error, "extends leads back to the file itself"},
			ExtendsNothing:  {Error, "extends names nothing"},
			TwoSpellings:    {Error, "a tool is written in both spellings of the tool table"},
			WrongType:       {Error, "a value has the wrong type"},
			BadToolName:     {Error, "a tool's name cannot be a file name"},
			BadSet:          {Error, "--set takes KEY=VALUE"},
			LayerLeaves:     {Error, "a layer leads out of the workspace"},
			ExtendsTooMuch:  {Error, "the layers are more than is read"},
			MissingField:    {Error, "a required field is missing"},
			BadValue:        {Error, "a value is not one of those that exist"},
			UnknownKey:      {Error, "unknown key"},
			ReplaceEmpty:    {Error, "replacing with an empty list"},
			DedupChanges:    {Warning, "dropping a duplicate changes which rule wins"},
			NearlyAccess:    {Error, "a key reads like a part of the policy and is none"},
			EmptyList:       {Warning, "an empty list is as good as none"},
			LayerDangles:    {Warning, "a symlink that would be a layer leads to nothing"},
			AccessOnDefault: {Error, "the defaults table takes no rules"},
			AccessNotLocal:  {Error, "access is for local tools only"},
			AccessNoSource:  {Error, "access on a tool that has no source"},
			BadSource:       {Error, "unknown source"},
			BadCommand:      {Error, "not a command that can be run"},
			Widens:          {Error, "an untrusted layer permits more"},
			OptionLike:      {Warning, "an argument of a call may become an option"},
			UnknownPreset:   {Error, "there is no such preset"},
			AbsolutePath:    {Error, "absolute paths are not permitted"},
			PathLeaves:      {Error, "a rule's path leaves the workspace"},
			PathOutside:     {Error, "a rule's path resolves outside of the workspace"},
			ExternalInside:  {Error, "an external rule resolves inside the workspace"},
			NotApproved:     {Warning, "an external rule is not approved and was dropped"},
			BrokenLink:      {Warning, "nothing is where an external rule leads and the rule was dropped"},
			Retargeted:      {Warning, "an external rule leads elsewhere than approved and was dropped"},
			BadPath:         {Error, "a path that cannot be written for every target"},
			PathLoop:        {Error, "a rule's path is a symlink loop"},
			FoldCollision:   {Error, "two rule paths are one on a system that folds case"},
			GlobInPath:      {Warning, "globs have no meaning in a rule's path"},
			ExecuteNoRead:   {Warning, "execute without read does not start anything on Linux"},
			TargetsOverlap:  {Error, "two external rules reach the same place with different capabilities"},
			SensitiveReach:  {Warning, "a rule reaches sensitive paths"},
			Unprotected:     {Warning, "protected paths are a tool's to change"},
			HomePath:        {Error, "a path begins with ~ or $"},
			UnfitTarget:     {Error, "an external rule leads to a place that is not for tools"},
			LinkedWide:      {Error, "a symlink or a mount leads a rule to a place that the rule has to name"},
			LinkedRule:      {Warning, "a rule's path leads over a symlink"},
			BadMay:          {Error, "not a rule that may be asked for"},
			BadHost:         {Error, "not a host"},
			BadNetField:     {Error, "not usable in a net rule"},
			NetUnseen:       {Warning, "paths of https requests are not seen"},
			NetOnlyWeb:      {Warning, "a net rule lets less pass than it says"},
			CredentialLayer: {Error, "a credential whose source this layer may not name"},
			BadEnvName:      {Error, "not a variable name"},
			LoaderVariable:  {Warning, "this variable changes how programs load code"},
			OrderDecides:    {Warning, "only the order of two rules decides"},
			TakesNothing:    {Error, "a rule changes nothing"},
			NothingThere:    {Note, "a rule is about a place where nothing is"},
			BadNames:        {Error, "not a pattern of names"},
			BadProgram:      {Error, "not a program"},
			BadArgs:         {Error, `"**" stands only at the end of an argument list`},
			ProgramMissing:  {Warning, "a listed program was not found on this host"},
			SameProgram:     {Warning, "two listed programs are one file on this host"},
			OwnProgram:      {Warning, "a tool's own program does not start under its policy"},
			BadLimit:        {Error, "not a limit"},
			UnknownAccept:   {Error, "there is no such gap to accept"},
			BadTest:         {Error, "not a question"},
			TestFailed:      {Error, "a policy test fails"},
			BadConstraint:   {Error, "not a constraint"},
			TooManyRules:    {Error, "too many rules for a target"},
			Inexpressible:   {Error, "a rule cannot be written for a target"},
			LocalTracked:    {Warning, "the layer of one checkout is committed"},
			Altered:         {Error, "a checkout may have another layer than git shows"},
			NotWorkspace:    {Error, "a directory that is not taken as workspace by itself"},
			BadSigner:       {Error, "a signer has no usable key"},
			OpenSigners:     {Error, "a file does not count that says who may sign"},
			OpenKey:         {Error, "a key that signs lies where tools or commits could take it"},
			BadRule:         {Error, "not a rule of a ruleset"},
			ExampleFails:    {Error, "an example of a rule fails"},
			IdleRule:        {Warning, "a rule never wins"},
			BroadRule:       {Warning, "a rule names a program that runs others"},
			AboveMaximum:    {Error, "a tool is permitted more than the maximum of this machine"},
			AboveParent:     {Error, "a subagent is permitted more than its parent"},
			BadMaximum:      {Error, "the maximum of this machine cannot be read"},
			BadApprovals:    {Warning, "the approval store cannot be used and counts as empty"},
		}
	})
}

var registryOnce once.Value[map[Code]entry]

// Codes lists every code in order.
func Codes() []Code { return slices.Sorted(maps.Keys(registry())) }

// Title returns the message of a code.
func (c Code) Title() string { return registry()[c].title }

// Severity returns the severity of a code.
func (c Code) Severity() Severity { return registry()[c].severity }
